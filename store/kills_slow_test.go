//go:build slow

package store_test

const kills = 100
