package audit

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
)

// rising are n texts from first on, in order, those after 'after' rows shuffled.
func rising(rng *rand.Rand, first, n, after int) []any {
	list := make([]any, n)
	for i := range list {
		list[i] = fmt.Sprintf("key-%07d", first+i)
	}
	tail := list[after:]
	rng.Shuffle(len(tail), func(i, j int) { tail[i], tail[j] = tail[j], tail[i] })
	return list
}

// TestRisingTexts: however the texts of row groups lie, what repeats is found.
func TestRisingTexts(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	const n = 20_000 // more than two batches
	for name, groups := range map[string][][]any{
		"all rise":               {rising(rng, 0, n, n), rising(rng, n, n, n)},
		"files in another order": {rising(rng, n, n, n), rising(rng, 0, n, n)},
		"one is shuffled":        {rising(rng, 0, n, 0), rising(rng, n, n, n)},
		"one ceases to rise":     {rising(rng, 0, n, n-100), rising(rng, n, n, n)},
		"they meet in one text":  {rising(rng, 0, n, n), rising(rng, n-1, n, n)},
		"they meet, shuffled":    {rising(rng, 0, n, 0), rising(rng, n-1, n, 0)},
		"NULLs among them":       {append(append(rising(rng, 0, 9000, 9000), nil, nil), rising(rng, 9000, 9000, 9000)...)},
		"NULLs alone":            {{nil, nil}, rising(rng, 0, 10, 10)},
		"one twice in a row":     {slices.Insert(rising(rng, 0, n, n), 7, any("key-0000006")), rising(rng, n, n, n)},
		"one again, much later":  {append(rising(rng, 0, n, n), "key-0000003"), rising(rng, n, n, n)},
		"one alone":              {{"a"}},
		"the empty text":         {{"", "a", "b"}, {"c", "d"}},
		"nothing":                {{}, {}},
	} {
		for _, dictionary := range []bool{false, true} {
			var files []File
			count, nulls, rows := map[any]int{}, 0, 0
			for i, values := range groups {
				for _, v := range values {
					if rows++; v == nil {
						nulls++
					} else {
						count[v]++
					}
				}
				data := parquetBytes(t, [][]testColumn{{strs("x", values...)}}, parquet.WithDictionaryDefault(dictionary))
				files = append(files, memoryFile(fmt.Sprint(i), data))
			}
			for policy, want := range map[string]int{
				"distinct": rows - nulls - len(count),
				"equal":    rows - len(count) - min(nulls, 1),
				"fail":     rows - len(count),
			} {
				r := judgeOne(t, fmt.Sprintf("unique: {columns: [x], nulls: %s, on_no_rows: pass}", policy), files...)
				if r.Violations != int64(want) {
					t.Errorf("%s, NULLs %s, dictionary %v: %d surplus rows, want %d", name, policy, dictionary, r.Violations, want)
				}
			}
		}
	}
}

// TestRisingTextsTakeNoMemory: nor a second reading.
func TestRisingTextsTakeNoMemory(t *testing.T) {
	rng := rand.New(rand.NewPCG(33, 34))
	const n = 50_000
	t.Setenv("TMPDIR", t.TempDir()+"/none") // to write there fails
	for _, test := range []struct {
		after int
		want  Outcome
	}{{n, Pass}, {0, Error}} {
		file := memoryFile("a", parquetBytes(t, [][]testColumn{
			{strs("x", rising(rng, 0, n, test.after)...)}, {strs("x", rising(rng, n, n, test.after)...)},
		}))
		r := mustRun(t, mustParse(t, checks("unique: x")), Partition{Files: []File{file}}, Options{Memory: 64 << 10})
		if a := resultOf(t, r, "unique(x)"); a.Outcome != test.want {
			t.Errorf("in order for %d of %d: %s %s", test.after, n, a.Outcome, a.Message)
		}
		if test.want == Pass && r.BytesRead > file.Source.Size()+64<<10 {
			t.Errorf("%d bytes of %d were read", r.BytesRead, file.Source.Size())
		}
	}
}

// TestRisingTextsByWrongStatistics: a footer that says that ranges are apart is
// no evidence.
func TestRisingTextsByWrongStatistics(t *testing.T) {
	data := parquetBytes(t, [][]testColumn{
		{strs("x", "a", "e-same")}, {strs("x", "b-least", "e-same", "g")}, {strs("x", "h", "i")},
	})
	at := len(data) - 8 - int(binary.LittleEndian.Uint32(data[len(data)-8:]))
	copy(data[at:], bytes.ReplaceAll(data[at:], []byte("b-least"), []byte("f-least")))
	file := memoryFile("a", data)
	k := boundKeys(t, checks("unique: x"), Options{}, file)[0]
	if k.order == nil {
		t.Fatal("the statistics do not say that the ranges are apart")
	}
	if r := judgeOne(t, "unique: x", file); r.Violations != 1 {
		t.Errorf("%d surplus rows, want 1", r.Violations)
	}
}
