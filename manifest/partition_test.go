package manifest

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestParsePartition(t *testing.T) {
	tests := []struct {
		in   string
		want Partition
	}{
		{"customers", Partition{Path: "customers", Table: "customers"}},
		{"eu/customers", Partition{Path: "eu/customers", Table: "eu/customers"}},
		{"orders/dt=2025-03-05/region=eu", Partition{Path: "orders/dt=2025-03-05/region=eu", Table: "orders",
			Keys: []KeyValue{{Name: "dt", Value: "2025-03-05"}, {Name: "region", Value: "eu"}}}},
		{"t/dt=01", Partition{Path: "t/dt=01", Table: "t", Keys: []KeyValue{{Name: "dt", Value: "01"}}}},
		{"t/at=10:30", Partition{Path: "t/at=10%3A30", Table: "t", Keys: []KeyValue{{Name: "at", Value: "10:30"}}}},
		{"t/at=10%3a30", Partition{Path: "t/at=10%3A30", Table: "t", Keys: []KeyValue{{Name: "at", Value: "10:30"}}}},
		{"t/k=a b=c@d", Partition{Path: "t/k=a%20b%3Dc%40d", Table: "t", Keys: []KeyValue{{Name: "k", Value: "a b=c@d"}}}},
		{"t/k=%2A%2f%25", Partition{Path: "t/k=%2A%2F%25", Table: "t", Keys: []KeyValue{{Name: "k", Value: "*/%"}}}},
		{"t/k=%61", Partition{Path: "t/k=a", Table: "t", Keys: []KeyValue{{Name: "k", Value: "a"}}}},
		{"my table/a b=1", Partition{Path: "my%20table/a%20b=1", Table: "my%20table", Keys: []KeyValue{{Name: "a b", Value: "1"}}}},
		{"a%3Db", Partition{Path: "a%3Db", Table: "a%3Db"}},
		{"größe/k=ü,+~", Partition{Path: "größe/k=ü,+~", Table: "größe", Keys: []KeyValue{{Name: "k", Value: "ü,+~"}}}},
		{"t/k=%C3%BC", Partition{Path: "t/k=ü", Table: "t", Keys: []KeyValue{{Name: "k", Value: "ü"}}}},
		{"t/k=%0A", Partition{Path: "t/k=%0A", Table: "t", Keys: []KeyValue{{Name: "k", Value: "\n"}}}},
		{"t/k=..", Partition{Path: "t/k=..", Table: "t", Keys: []KeyValue{{Name: "k", Value: ".."}}}},
		{"t/k=_x", Partition{Path: "t/k=_x", Table: "t", Keys: []KeyValue{{Name: "k", Value: "_x"}}}},
		{"t/k=__HIVE_DEFAULT_PARTITION__", Partition{Path: "t/k=__HIVE_DEFAULT_PARTITION__", Table: "t",
			Keys: []KeyValue{{Name: "k", Value: "__HIVE_DEFAULT_PARTITION__"}}}},
	}
	for _, tt := range tests {
		got, err := ParsePartition(tt.in)
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%q: %+v, %v, want %+v", tt.in, got, err, tt.want)
		}
		if parts := strings.Join(got.Components(), "/"); parts != got.Path {
			t.Errorf("%q: components %q", tt.in, parts)
		}
	}
}

func TestParsePartitionErrors(t *testing.T) {
	tests := []struct {
		in     string
		offset int
		reason string
		remedy string
	}{
		{"", 0, "the path is empty", "write a table, or TABLE/KEY=VALUE"},
		{"/orders", 0, "the path is absolute", "without the leading /"},
		{"s3://bucket/orders", 4, "an empty part", "write single slashes"},
		{"orders//dt=1", 7, "an empty part", "write single slashes"},
		{"orders/", 7, "an empty part", "none at the end"},
		{"orders/../x", 7, `a part ".."`, "without it"},
		{"./orders", 0, `a part "."`, "without it"},
		{"%2E%2E/orders", 0, `a part ".."`, "without it"},
		{"orders/=1", 7, "a value without a key", "KEY=VALUE"},
		{"orders/dt=", 10, "a key without a value", "null is __HIVE_DEFAULT_PARTITION__"},
		{"dt=1", 0, "no table stands before it", "write TABLE/dt=1"},
		{"orders/dt=1/eu", 12, `"eu" stands after a key and is none`, "write the table first"},
		{"orders/dt=1/dt=2", 12, `key "dt" stands twice`, "each key once"},
		{"orders/dt=1/d%74=2", 12, `key "dt" stands twice`, "each key once"},
		{"_wap/runs", 0, `the name "_wap" is hidden from readers`, "neither _ nor ."},
		{"a/%5Fb", 2, `the name "_b" is hidden from readers`, "neither _ nor ."},
		{"a/.b", 2, `the name ".b" is hidden from readers`, "neither _ nor ."},
		{"a/_k=1", 2, `the name "_k" is hidden from readers`, "neither _ nor ."},
		{"a/k=1\n", 5, "a control character, or a byte that is not UTF-8", "write it as %XX"},
		{"a/k=\xff", 4, "a control character, or a byte that is not UTF-8", "write it as %XX"},
		{"a/k=1%", 5, `"%" is no escape %XX`, "a percent sign as %25"},
		{"a/k=%zz", 4, `"%zz" is no escape %XX`, "a percent sign as %25"},
		{"a/k=50%+1", 6, `"%+1" is no escape %XX`, "a percent sign as %25"},
		{"a/k=%00", 4, `"%00" is no escape %XX`, "a percent sign as %25"},
		{"a/k=%ff", 4, "the escapes are not UTF-8", "a percent sign as %25"},
		{"a/k=*", 4, "a * makes this a pattern, not a partition", "a * in it is %2A"},
		{"a/*", 2, "a * makes this a pattern, not a partition", "a * in it is %2A"},
		{"a/" + strings.Repeat("b", 1023), 0, "the path has 1025 bytes, at most 1024 fit", "shorten it"},
		{"a/k=" + strings.Repeat(":", 400), 0, "the path has 1204 bytes, at most 1024 fit", "shorten it"},
	}
	for _, tt := range tests {
		_, err := ParsePartition(tt.in)
		var e *SyntaxError
		if !errors.As(err, &e) || e.Text != tt.in || e.Offset != tt.offset || e.Reason != tt.reason || !strings.Contains(e.Remedy, tt.remedy) {
			t.Errorf("%q: %v, want byte %d: %s; … %s", tt.in, err, tt.offset, tt.reason, tt.remedy)
		}
	}
}

func TestEscapeValue(t *testing.T) {
	const plain = "azAZ09-._~!$&()+,;<>`|}äß€😀"
	if got := EscapeValue(plain); got != plain {
		t.Errorf("%q is escaped %q", plain, got)
	}
	const special = "\x01\x1f\x7f\u0085 \"#%'*/:=?\\{[]^@"
	const want = "%01%1F%7F%C2%85%20%22%23%25%27%2A%2F%3A%3D%3F%5C%7B%5B%5D%5E%40"
	if got := EscapeValue(special); got != want {
		t.Errorf("%q is escaped %q, want %q", special, got, want)
	}
	if got, err := UnescapeValue(want); err != nil || got != special {
		t.Errorf("%q comes back %q, %v", want, got, err)
	}
}

func TestParsePathRef(t *testing.T) {
	tests := []struct {
		in   string
		want PathRef
		kind RefKind
	}{
		{"orders/dt=1", PathRef{Path: "orders/dt=1"}, RefNone},
		{"orders/at=10:30@41", PathRef{Path: "orders/at=10%3A30", Ref: "41"}, RefSequence},
		{"orders@0", PathRef{Path: "orders", Ref: "0"}, RefSequence},
		{"@041", PathRef{Ref: "41"}, RefSequence},
		{"@2025-q1", PathRef{Ref: "2025-q1"}, RefTag},
		{"orders@before_fix.2", PathRef{Path: "orders", Ref: "before_fix.2"}, RefTag},
		{"orders@2025-03-05-close", PathRef{Path: "orders", Ref: "2025-03-05-close"}, RefTag},
		{"@2025-03-05T00:00:00Z", PathRef{Ref: "2025-03-05T00:00:00Z"}, RefTime},
		{"t@2025-03-05T01:00:00.50+01:00", PathRef{Path: "t", Ref: "2025-03-05T00:00:00.5Z"}, RefTime},
		{"t/mail=a%40b@7", PathRef{Path: "t/mail=a%40b", Ref: "7"}, RefSequence},
	}
	for _, tt := range tests {
		got, err := ParsePathRef(tt.in)
		if err != nil || got != tt.want || got.Kind() != tt.kind {
			t.Errorf("%q: %+v, %s, %v, want %+v, %s", tt.in, got, got.Kind(), err, tt.want, tt.kind)
		}
		if again, err := ParsePathRef(got.String()); err != nil || again != got {
			t.Errorf("%q: %q is %+v, %v", tt.in, got, again, err)
		}
	}
	p := PathRef{Ref: "41"}
	if p.Sequence() != 41 || !p.Time().IsZero() {
		t.Errorf("@41 is %d, %s", p.Sequence(), p.Time())
	}
	p = PathRef{Ref: "2025-03-05T04:05:06.789Z"}
	if p.Sequence() != -1 || !p.Time().Equal(sampleTime) {
		t.Errorf("%s is %d, %s", p, p.Sequence(), p.Time())
	}
}

func TestParsePathRefErrors(t *testing.T) {
	tests := []struct {
		in     string
		offset int
		reason string
	}{
		{"", 0, "the path is empty"},
		{"/t@1", 0, "the path is absolute"},
		{"t@", 2, "nothing stands after the @"},
		{"t@9007199254740993", 2, "the sequence is too large"},
		{"t@99999999999999999999", 2, "the sequence is too large"},
		{"t@2025-03-05", 2, `"2025-03-05" is not a time`},
		{"t@2025-13-05T00:00:00Z", 2, `"2025-13-05T00:00:00Z" is not a time`},
		{"t/mail=a@b.c@7", 9, `tag "b.c@7" has other characters than letters, digits, dot, underscore and hyphen`},
		{"@a b", 1, `tag "a b" has other characters than letters, digits, dot, underscore and hyphen`},
	}
	for _, tt := range tests {
		_, err := ParsePathRef(tt.in)
		var e *SyntaxError
		if !errors.As(err, &e) || e.Offset != tt.offset || e.Reason != tt.reason || e.Remedy == "" {
			t.Errorf("%q: %v, want byte %d: %s", tt.in, err, tt.offset, tt.reason)
		}
	}
	for _, name := range []string{"", "41", "2025-03-05", "2025-03-05T00:00:00Z", "a/b", "ä", strings.Repeat("t", 129)} {
		if CheckTag(name) == nil {
			t.Errorf("tag %q is accepted", name)
		}
	}
}
