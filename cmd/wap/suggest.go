package main

import "github.com/xrash/smetrics"

// nearest is the known word with the fewest edits, at most a third of the
// word's length, or empty.
func nearest(word string, known []string) string {
	best, limit := "", min(3, max(1, len(word)/3))
	for _, k := range known {
		if d := smetrics.WagnerFischer(word, k, 1, 1, 1); d <= limit {
			best, limit = k, d-1
		}
	}
	return best
}
