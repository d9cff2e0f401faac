// Package logodds converts between probabilities and their log-odds, ln p/(1−p):
//
//	x := logodds.Of(0.9) // 2.2
//	p := logodds.Probability(x)
package logodds

import "math"

// Of returns the log-odds of a probability: −∞ of 0, +∞ of 1.
func Of(p float64) float64 { return math.Log(p / (1 - p)) }

// Probability returns the probability with these log-odds, by the logistic function.
func Probability(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
