package manifest

import (
	"fmt"
	"strings"
	"testing"
)

func TestKeys(t *testing.T) {
	const run, slug = "nightly/2025-03-05", "nightly~2F2025-03-05-e30180072e2e937c"
	sha := strings.Repeat("0123456789abcdef", 4)
	tests := []struct{ got, want string }{
		{WarehouseKey, "_wap/warehouse.json"},
		{PointerKey, "_wap/refs/main.json"},
		{SnapshotKey(41, "01S"), "_wap/snapshots/000000000041-01S.json"},
		{TreeKey("01T", sha), "_wap/trees/01T-0123456789abcdef.json"},
		{MarkKey("r", 12), "_wap/open/r.g000012"},
		{MarkKey(run, 1), "_wap/open/" + slug + ".g000001"},
		{RunPrefix(run), "_wap/runs/" + slug + "/"},
		{RunKey(run), "_wap/runs/" + slug + "/run.json"},
		{InputsKey("r", 2, "0"), "_wap/runs/r/g2/inputs/0.json"},
		{InputsKey("r", 2, SharedInputs), "_wap/runs/r/g2/inputs/_run.json"},
		{AttemptKey("r", 2, "a b", "01A"), "_wap/runs/r/g2/attempts/a~20b-c8687a08aa5d6ed2/01A.json"},
		{SealPrefix("r", 10), "_wap/runs/r/g10/tasks/"},
		{SealKey("r", 10, "main"), "_wap/runs/r/g10/tasks/main.json"},
		{EvidenceKey("r", 1, "01E"), "_wap/runs/r/g1/audits/01E.json"},
		{ManifestKey("r", 1, "01M", sha), "_wap/runs/r/g1/manifests/01M-0123456789abcdef.json"},
		{DataPrefix("eu/orders", run, 1, "0", "01A"), "_wap/data/eu/orders/" + slug + "/g1/0/01A/"},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("key %q, want %q", tt.got, tt.want)
		}
	}
	for _, key := range []string{MarkKey(run, 1), RunKey(run), SnapshotKey(1, "01S"), TreeKey("01T", sha)} {
		if clean, err := CleanKey(key); err != nil || clean != key {
			t.Errorf("key %q is not clean: %q, %v", key, clean, err)
		}
	}
}

func TestSlug(t *testing.T) {
	digest := func(name string) string { return "-" + SHA256Hex([]byte(name))[:16] }
	long := strings.Repeat("a", 81)
	escapes := strings.Repeat("/", 27)
	tests := []struct{ name, want string }{
		{"main", "main"},
		{"a.B_c-9", "a.B_c-9"},
		{strings.Repeat("a", 80), strings.Repeat("a", 80)},
		{long, long[:80] + digest(long)},
		{"a/b", "a~2Fb" + digest("a/b")},
		{"a~2Fb", "a~7E2Fb" + digest("a~2Fb")},
		{"dt=1%", "dt~3D1~25" + digest("dt=1%")},
		{"_run", "~5Frun" + digest("_run")},
		{".hidden", "~2Ehidden" + digest(".hidden")},
		{"ä", "~C3~A4" + digest("ä")},
		{escapes, (strings.Repeat("~2F", 27))[:80] + digest(escapes)},
		{"", digest("")},
	}
	for _, tt := range tests {
		if got := Slug(tt.name); got != tt.want {
			t.Errorf("slug of %q is %q, want %q", tt.name, got, tt.want)
		}
	}
}

// Names that look alike after escaping and cutting keep different slugs.
func TestSlugCollisions(t *testing.T) {
	seen := map[string]string{}
	add := func(name string) {
		slug := Slug(name)
		if other, ok := seen[slug]; ok && other != name {
			t.Fatalf("%q and %q have the slug %q", name, other, slug)
		}
		seen[slug] = name
	}
	alphabet := []string{"a", "A", "_", ".", "-", "~", "/", "=", "%", "ä", "2F"}
	for _, a := range alphabet {
		for _, b := range alphabet {
			for _, c := range alphabet {
				name := a + b + c
				add(name)
				add(Slug(name)) // a name spelled as another's slug
				add(strings.Repeat("x", 78) + name)
				add(Slug(strings.Repeat("x", 78) + name))
			}
		}
	}
	for i := range 2000 {
		add(fmt.Sprintf("dag/task %d", i))
	}
}

func TestCheckName(t *testing.T) {
	for _, name := range []string{"a", "_", "dag/2025-03-05T00:00:00+00:00", "größe 1", strings.Repeat("n", 512)} {
		if err := CheckName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"", strings.Repeat("n", 513), "a\nb", "a\x00", "\x7f", "\u0085", "\xff", SharedInputs} {
		if err := CheckName(name); err == nil {
			t.Errorf("%q is accepted", name)
		}
	}
}

func TestCleanKey(t *testing.T) {
	tests := []struct{ key, want, problem string }{
		{"a/b.parquet", "a/b.parquet", ""},
		{"a//b/./c/", "a/b/c", ""},
		{"a/../b", "b", ""},
		{"a b/dt=%3A/ü", "a b/dt=%3A/ü", ""},
		{"..a/b", "..a/b", ""},
		{"", "", "empty"},
		{"/a", "", "absolute"},
		{"..", "", "escapes the warehouse"},
		{"a/../../b", "", "escapes the warehouse"},
		{".", "", "names the warehouse itself"},
		{"a/..", "", "names the warehouse itself"},
		{"a\nb", "", "control character at byte 1"},
		{"a\xff", "", "not UTF-8"},
		{strings.Repeat("k", 1025), "", "1025 bytes"},
	}
	for _, tt := range tests {
		got, err := CleanKey(tt.key)
		switch {
		case tt.problem == "" && (err != nil || got != tt.want):
			t.Errorf("%q: %q, %v, want %q", tt.key, got, err, tt.want)
		case tt.problem != "" && (err == nil || got != "" || !strings.Contains(err.Error(), tt.problem)):
			t.Errorf("%q: %q, %v, want an error with %q", tt.key, got, err, tt.problem)
		}
	}
}
