package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
)

// weighedPlugins adds up the memory that documents of plugins at work name.
type weighedPlugins struct {
	fakePlugins
	together chan struct{} // closed when as many as wait were started
	wait     int

	mu           sync.Mutex
	started      int
	memory, most int64
}

func (w *weighedPlugins) Run(ctx context.Context, _ []string, doc []byte) ([]byte, []byte, error) {
	var got document
	if err := json.Unmarshal(doc, &got); err != nil {
		return nil, nil, err
	}
	w.mu.Lock()
	w.memory += got.Limits.MemoryBytes
	w.most = max(w.most, w.memory)
	if w.started++; w.started == w.wait {
		close(w.together)
	}
	w.mu.Unlock()
	select {
	case <-w.together:
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	w.mu.Lock()
	w.memory -= got.Limits.MemoryBytes
	w.mu.Unlock()
	return []byte(`{"outcome": "pass"}`), nil, nil
}

// TestPluginMemory: plugins of several partitions share the memory. Engines that
// read files here run one after the other, others as many at once as partitions
// are judged.
func TestPluginMemory(t *testing.T) {
	const memory, parallel = 64 << 20, 4
	vars := Vars{Plugins: []Plugin{{"trino", []string{"trino"}}}}
	for _, tt := range []struct {
		item  string
		parts int
		wait  int // plugins that have to run at the same time
		most  int64
	}{
		{"exec: {command: [x], local: true}", 1, 1, memory},
		{"exec: {command: [x], local: true}", 4, 4, memory},
		{"exec: {command: [x]}", 20, 4, memory / 2},
		{"sql: {query: SELECT 1, engine: trino}", 20, 4, memory / 2},
		{"sql: SELECT 1", 20, 1, memory},
	} {
		c, err := Parse("checks.yaml", []byte(checks(tt.item)), vars)
		if err != nil {
			t.Fatal(err)
		}
		var parts []Partition
		for i := range tt.parts {
			parts = append(parts, Partition{Partition: keyed("n", fmt.Sprint(i)), Files: []File{fileOf(t, "a", longs("x", 1))}})
		}
		plugins := &weighedPlugins{wait: tt.wait, together: make(chan struct{})}
		r, err := Run(t.Context(), &Rules{Default: c}, parts, Options{Now: testNow(), Memory: memory, Parallel: parallel, Plugins: plugins})
		if err != nil || r.Outcome != Pass || plugins.started != tt.parts || plugins.most != tt.most {
			t.Errorf("%s on %d: %v, %d started, %d bytes at once, %+v", tt.item, tt.parts, err, plugins.started, plugins.most, r.Blocking())
		}
	}
}
