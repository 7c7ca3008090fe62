package scan

import "testing"

// TestFreeListFits: who needs little leaves what is large to who needs much, so
// that large memory is not made again for each chunk.
func TestFreeListFits(t *testing.T) {
	var l freeList[buffer]
	for _, n := range []int{20, 50, 10, 30} {
		l.give(make(buffer, n), 110)
	}
	for _, step := range []struct {
		take int64
		want int
	}{{15, 20}, {15, 30}, {60, 50}, {1, 10}} {
		if step.take == 60 { // what is too much is not kept
			l.give(make(buffer, 41), 100)
		}
		if got := cap(l.take(step.take)); got != step.want {
			t.Errorf("for %d bytes: %d, want %d", step.take, got, step.want)
		}
	}
	if b := l.take(5); b != nil || l.held != 0 {
		t.Errorf("%d bytes left, %d held", cap(b), l.held)
	}
}
