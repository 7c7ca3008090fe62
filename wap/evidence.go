package wap

import (
	"slices"
	"time"

	"github.com/wap-cli/wap/audit"
	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store"
)

// Evidence is an audit's stored report, bound to the digests of candidate and
// rules, with everything else it read and with what passing it makes of the
// warehouse.
type Evidence struct {
	Format     int64                `json:"format"`
	Run        string               `json:"run"`
	Generation int64                `json:"generation"`
	Candidate  string               `json:"candidate"`
	Rules      string               `json:"rules"`
	Time       time.Time            `json:"time"`
	Partitions []EvidencePartition  `json:"partitions"` // sorted by path
	Inputs     []manifest.InputsRef `json:"inputs"`
	Reads      []Read               `json:"reads"`
	Controls   []manifest.Control   `json:"controls"`
	Waivers    []manifest.Waiver    `json:"waivers"`
	Report     audit.Report         `json:"report"`
	manifest.Extensions
}

// EvidencePartition is one partition before and after.
type EvidencePartition struct {
	Path string        `json:"path"`
	Mode manifest.Mode `json:"mode"`
	// Before is what the partition held when it was judged; null: nothing. While
	// that is still so, the evidence holds.
	Before *manifest.Ref `json:"before"`
	// After is the manifest that passed; null: the partition is emptied, or the
	// audit did not pass.
	After *manifest.Ref `json:"after"`
	manifest.Totals
}

// passing returns the newest passing evidence for the candidate and rules;
// empty rules: for any.
func passing(r *manifest.Run, rules string) *manifest.EvidenceRef {
	for _, e := range slices.Backward(r.Evidence) {
		if r.Candidate != nil && e.Candidate == r.Candidate.Digest && (rules == "" || e.Rules == rules) {
			if e.Outcome == manifest.OutcomePass || e.Outcome == manifest.OutcomeWarn {
				return &e
			}
			if rules == "" {
				return nil // the newest word is a failure
			}
		}
	}
	return nil
}

// withEvidence adds a reference, in place of an older one for the same rules.
func withEvidence(list []manifest.EvidenceRef, e manifest.EvidenceRef) []manifest.EvidenceRef {
	out := slices.DeleteFunc(slices.Clone(list), func(o manifest.EvidenceRef) bool { return o.Rules == e.Rules })
	return append(out, e)
}

// version is what a file's object must still be.
func version(f manifest.File) store.Version { return store.Version{ETag: f.ETag, ID: f.VersionID} }
