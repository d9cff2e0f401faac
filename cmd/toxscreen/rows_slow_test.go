//go:build slow

package main

const memoryRows = 200_000

const serverKills = 100
