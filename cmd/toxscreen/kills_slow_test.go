//go:build slow

package main

const serverKills = 100
