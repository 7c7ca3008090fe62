package audit

import "fmt"

// suggestion is a hint with the nearest of the known names, or empty when none
// is near.
func suggestion(name string, known []string) string {
	if near, ok := Nearest(name, known); ok {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return ""
}

// Nearest finds the known name with the fewest edits, at most a third of the
// name's length, but one in a short name, and never more than three.
func Nearest(name string, known []string) (string, bool) {
	best, limit := "", min(3, max(1, len(name)/3), len(name)-1)
	for _, k := range known {
		if d := edits(name, k); d <= limit {
			best, limit = k, d-1
		}
	}
	return best, best != ""
}

// edits is the optimal string alignment distance: insertions, deletions,
// substitutions and swaps of neighbours.
func edits(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
