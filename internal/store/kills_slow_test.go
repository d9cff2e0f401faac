//go:build unix && slow

package store_test

const kills = 100
