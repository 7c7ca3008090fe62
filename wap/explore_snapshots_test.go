package wap

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store"
)

// partitionsOf reads a tree's manifests by path.
func partitionsOf(t *testing.T, st store.Store, tree *manifest.Ref) map[string]manifest.Ref {
	t.Helper()
	out := map[string]manifest.Ref{}
	var walk func(ref *manifest.Ref, at string)
	walk = func(ref *manifest.Ref, at string) {
		if ref == nil {
			return
		}
		node := new(manifest.Tree)
		readRef(t, st, *ref, node)
		for _, e := range node.Entries {
			if e.Kind == manifest.NodeTree {
				walk(&e.Ref, at+e.Name+"/")
			} else {
				out[at+e.Name] = e.Ref
			}
		}
	}
	walk(tree, "")
	return out
}

// examineStep asserts what a snapshot made of its parent: a publish changes all
// partitions that it names and no others, to exactly what passed an audit, and
// what that audit compared with was still so. A fence changes nothing. What
// takes an effect back has rules of its own.
func examineStep(t *testing.T, st store.Store, parent, snap *manifest.Snapshot) {
	t.Helper()
	if snap.Operation == manifest.OpUndo {
		return
	}
	want := partitionsOf(t, st, parent.Tree)
	before := maps.Clone(want)
	for _, run := range snap.Runs {
		if run.Effect != manifest.EffectPublished || snap.Operation != manifest.OpPublish {
			continue
		}
		examineEvidence(t, st, before, &run)
		ev := new(Evidence)
		readRef(t, st, *run.Evidence, ev)
		examineReads(t, st, parent.Tree, ev)
		for _, p := range run.Partitions {
			delete(want, p.Path)
			if p.Manifest != nil {
				want[p.Path] = *p.Manifest
				examineFiles(t, st, &run, *p.Manifest)
			}
		}
	}
	if got := partitionsOf(t, st, snap.Tree); !maps.Equal(got, want) {
		t.Fatalf("sequence %d (%s) holds %v, want %v", snap.Sequence, snap.Operation, got, want)
	}
}

// examineEvidence asserts that what a run publishes is what passed.
func examineEvidence(t *testing.T, st store.Store, before map[string]manifest.Ref, run *manifest.SnapshotRun) {
	t.Helper()
	if run.Evidence == nil {
		t.Fatalf("%s is published without evidence", names(run.Run, run.Generation))
	}
	ev := new(Evidence)
	readRef(t, st, *run.Evidence, ev)
	who := names(run.Run, run.Generation)
	switch {
	case ev.Run != run.Run || ev.Generation != run.Generation:
		t.Fatalf("%s is published by the evidence of %s", who, names(ev.Run, ev.Generation))
	case ev.Candidate != run.Candidate || ev.Rules != run.Rules:
		t.Fatalf("%s is published by the evidence of another candidate or of other rules", who)
	case len(ev.Report.Blocking()) > 0:
		t.Fatalf("%s is published by evidence that failed", who)
	case len(ev.Partitions) != len(run.Partitions):
		t.Fatalf("%s publishes %d partitions, %d were judged", who, len(run.Partitions), len(ev.Partitions))
	}
	for i, e := range ev.Partitions {
		p := run.Partitions[i]
		if e.Path != p.Path || !sameRef(e.After, p.Manifest) {
			t.Fatalf("%s publishes %s as %v, judged was %v", who, p.Path, p.Manifest, e.After)
		}
		held, there := before[e.Path]
		if there != (e.Before != nil) || there && held != *e.Before {
			t.Fatalf("%s was judged while %s held %v, and replaced %v", who, e.Path, e.Before, held)
		}
	}
}

// examineFiles asserts that a published manifest holds its seals' files: all of
// each attempt that it names, as sealed, and of one attempt a task.
func examineFiles(t *testing.T, st store.Store, run *manifest.SnapshotRun, ref manifest.Ref) {
	t.Helper()
	m := new(manifest.Manifest)
	readRef(t, st, ref, m)
	have := map[string]manifest.File{}
	tasks := map[string]*manifest.Seal{}
	for _, f := range m.Files {
		h, err := st.Head(context.Background(), f.Key)
		if err != nil || h.Size != f.Size || h.Version.ETag != f.ETag {
			t.Fatalf("%s is published and not what was audited: %v", f.Key, err)
		}
		if f.Run != run.Run {
			continue // it was live before
		}
		have[f.Key] = f
		key := manifest.SealKey(f.Run, f.Generation, f.Task)
		if tasks[key] == nil {
			tasks[key] = new(manifest.Seal)
			read(t, st, key, tasks[key])
		}
		if tasks[key].Attempt != f.Attempt {
			t.Fatalf("%s is published; the seal of its task is by %s", f.Key, tasks[key].Attempt)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(tasks)) {
		for _, f := range sealedFiles(tasks[key], m.Partition.Path) {
			if !sameContent(have[f.Key], f) {
				t.Fatalf("%s is sealed and not published with its task", f.Key)
			}
		}
	}
}

// sameContent compares two entries of one file. One that an engine wrote itself
// has no checksum: size and ETag stand in.
func sameContent(a, b manifest.File) bool {
	if (a.SHA256 == nil) != (b.SHA256 == nil) || a.SHA256 != nil && *a.SHA256 != *b.SHA256 {
		return false
	}
	return a.Key == b.Key && a.Size == b.Size && a.ETag == b.ETag
}

// legal lists where a record may go within a generation, its own state aside.
// History outranks the record: published may follow on any state.
func legal() map[manifest.State][]manifest.State {
	return map[manifest.State][]manifest.State{
		manifest.StateOpening:  {manifest.StateOpen, manifest.StateAborting},
		manifest.StateOpen:     {manifest.StateClosing, manifest.StateAborting},
		manifest.StateClosing:  {manifest.StateFrozen, manifest.StateOpen, manifest.StateAborting},
		manifest.StateFrozen:   {manifest.StateFrozen, manifest.StateRejected, manifest.StateAborting},
		manifest.StateRejected: {manifest.StateFrozen, manifest.StateRejected, manifest.StateAborting},
		manifest.StateAborting: {manifest.StateAborted},
	}
}

// redoable lists the states that a generation may follow on.
func redoable() []manifest.State {
	return []manifest.State{manifest.StateRejected, manifest.StateAborted, manifest.StatePublished}
}

// brokenRecord says what is wrong with a change of a run record, or nothing.
func brokenRecord(from, to *manifest.Run) string {
	switch {
	case to.Generation == from.Generation+1:
		if to.State != manifest.StateOpening || !slices.Contains(redoable(), from.State) {
			return "a generation begins as " + string(to.State) + " after one that is " + string(from.State)
		}
		if *to.FirstBase != *from.FirstBase {
			return "the first base moved"
		}
		return ""
	case to.Generation != from.Generation:
		return "generations were skipped or went back"
	case to.State != manifest.StatePublished && !slices.Contains(legal()[from.State], to.State):
		return "a record went from " + string(from.State) + " to " + string(to.State)
	case from.Base != nil && *to.Base != *from.Base, from.FirstBase != nil && *to.FirstBase != *from.FirstBase:
		return "the base moved"
	case from.Candidate != nil && (to.Candidate == nil || to.Candidate.Digest != from.Candidate.Digest):
		return "a frozen candidate changed"
	case to.Candidate != nil && manifest.CandidateDigest(to.Candidate.Seals) != to.Candidate.Digest:
		return "the candidate's digest is not its seals'"
	case from.Nonce == to.Nonce:
		return "a nonce came back"
	case strings.Join(from.Tasks, "/") != strings.Join(to.Tasks, "/") || from.Mode != to.Mode:
		return "what the run is changed"
	}
	return ""
}
