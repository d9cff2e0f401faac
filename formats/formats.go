// Package formats reads the cases of nexa-gauge, and writes its results.
package formats
