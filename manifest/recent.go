package manifest

import "slices"

// PushRecent puts r before recent and keeps the newest entries that fit into
// RecentBudget, without a gap. The newest stays whole even where it alone is
// larger, as after a rollback over thousands of runs: a pointer that names its
// own snapshot but not all of the runs in it would answer "not published" about
// the ones left out. The next push then drops it. Entries that went are found
// over the snapshots' parents.
func PushRecent(recent []Recent, r Recent) []Recent {
	all := slices.Concat([]Recent{r}, recent)
	size := len("[]") + recentSize(r)
	fit := 1
	for _, entry := range recent {
		size += len(",") + recentSize(entry)
		if size > RecentBudget {
			break
		}
		fit++
	}
	return all[:fit:fit]
}

// recentSize is what an entry takes in canonical JSON. An entry without such a
// form counts as too large for company; encoding the pointer then says why.
func recentSize(r Recent) int {
	data, err := Encode(r)
	if err != nil {
		return RecentBudget + 1
	}
	return len(data) - len("\n")
}
