package manifest

import (
	"cmp"
	"slices"
)

// CandidateDigest is the identity of a candidate: the SHA-256, in hex, of the
// canonical JSON list of its seals' {sha256, task}, sorted by task. Where the
// seals lie is no part of it.
func CandidateDigest(seals []SealRef) string {
	sorted := slices.SortedFunc(slices.Values(seals), func(a, b SealRef) int { return cmp.Compare(a.Task, b.Task) })
	text := []byte{'['}
	for i, s := range sorted {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, `{"sha256":`...)
		text = appendString(text, s.SHA256)
		text = append(text, `,"task":`...)
		text = appendString(text, s.Task)
		text = append(text, '}')
	}
	return SHA256Hex(append(text, "]\n"...))
}
