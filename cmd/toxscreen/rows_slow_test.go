//go:build slow

package main

const memoryRows = 200_000
