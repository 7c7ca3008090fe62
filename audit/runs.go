package audit

import (
	"bufio"
	"container/heap"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
)

// record is something that is brought into an order.
type record[K any] interface {
	compare(o K) int
	// with joins two equal records into one; ok is false where each counts.
	with(o K) (joined K, ok bool)
	// put appends the record, always in as many bytes; get reads it back.
	put(dst []byte) []byte
	get(src []byte) K
}

// runs sorts records of any number in bounded memory: what exceeds the budget
// goes, sorted, to a temporary file. It is not for several goroutines.
type runs[K record[K]] struct {
	file   *runFile // all runs of one assertion share it
	budget int64    // bytes held in memory, about

	list    []K
	full    int // length of list at which it is cut
	written []stretch
	failure error
}

// stretch is a piece of a run file, in bytes. What it holds is sorted.
type stretch struct{ offset, length int64 }

const minRun = 1 << 10 // records

func newRuns[K record[K]](file *runFile, budget int64) *runs[K] {
	return &runs[K]{file: file, budget: budget}
}

func (r *runs[K]) size() int64 {
	var none K
	return int64(len(none.put(nil)))
}

// most is how many records are held.
func (r *runs[K]) most() int { return int(max(minRun, r.budget/r.size())) }

func (r *runs[K]) add(k K) {
	r.list = append(r.list, k)
	if len(r.list) >= max(r.full, minRun) {
		r.cut()
	}
}

// cut joins what is equal, and writes out what stays too much.
func (r *runs[K]) cut() {
	if r.full == 0 { // until the budget, nothing has to be done
		if r.full = r.most(); len(r.list) < r.full {
			return
		}
	}
	r.sort()
	if len(r.list) > r.most()/2 {
		r.write()
	}
	r.full = r.most()
}

func (r *runs[K]) sort() {
	slices.SortFunc(r.list, func(a, b K) int { return a.compare(b) })
	n := 0
	for _, k := range r.list {
		if n > 0 && r.list[n-1].compare(k) == 0 {
			if joined, ok := r.list[n-1].with(k); ok {
				r.list[n-1] = joined
				continue
			}
		}
		r.list[n] = k
		n++
	}
	r.list = r.list[:n]
}

func (r *runs[K]) write() {
	if r.failure != nil {
		r.list = r.list[:0]
		return
	}
	buf := make([]byte, 0, int64(len(r.list))*r.size())
	for _, k := range r.list {
		buf = k.put(buf)
	}
	at, err := r.file.write(buf)
	if err != nil {
		r.failure = err
	}
	r.written, r.list = append(r.written, at), r.list[:0]
}

// take moves the records of o, which is of the same file, in.
func (r *runs[K]) take(o *runs[K]) {
	if r.failure == nil {
		r.failure = o.failure
	}
	r.written = append(r.written, o.written...)
	for list := o.list; len(list) > 0; {
		n := min(len(list), max(1, r.most()-len(r.list)))
		r.list, list = append(r.list, list[:n]...), list[n:]
		if len(r.list) >= r.most() {
			r.cut()
		}
	}
	o.list, o.written = nil, nil
}

// each calls fn with the records in order, equal ones joined, until it returns
// false. The error is the temporary file's.
func (r *runs[K]) each(fn func(K) bool) error {
	if r.failure != nil {
		return r.failure
	}
	r.sort()
	m := merging[K]{{list: r.list}}
	buffer := int(min(max(r.budget/int64(len(r.written)+1), 4<<10), 256<<10))
	for _, at := range r.written {
		m = append(m, &sorted[K]{
			from: bufio.NewReaderSize(io.NewSectionReader(r.file.file, at.offset, at.length), buffer),
			left: at.length / r.size(), buf: make([]byte, r.size()),
		})
	}
	return m.each(fn)
}

// sorted is a run on its way into the order of all.
type sorted[K record[K]] struct {
	head K
	list []K // what follows, in memory
	from io.Reader
	left int64 // records to read
	buf  []byte
}

// next moves to the next record; ok is false when there is none.
func (s *sorted[K]) next() (ok bool, err error) {
	if len(s.list) > 0 {
		s.head, s.list = s.list[0], s.list[1:]
		return true, nil
	}
	if s.left == 0 {
		return false, nil
	}
	s.left--
	if _, err := io.ReadFull(s.from, s.buf); err != nil {
		return false, fmt.Errorf("read temporary file for values: %w", err)
	}
	s.head = s.head.get(s.buf)
	return true, nil
}

// merging is a heap of runs by their first record.
type merging[K record[K]] []*sorted[K]

func (m merging[K]) Len() int           { return len(m) }
func (m merging[K]) Less(i, j int) bool { return m[i].head.compare(m[j].head) < 0 }
func (m merging[K]) Swap(i, j int)      { m[i], m[j] = m[j], m[i] }
func (m *merging[K]) Push(x any)        { *m = append(*m, x.(*sorted[K])) }
func (m *merging[K]) Pop() any {
	last := (*m)[len(*m)-1]
	*m = (*m)[:len(*m)-1]
	return last
}

// pop takes the least record of all.
func (m *merging[K]) pop() (least K, err error) {
	first := (*m)[0]
	least = first.head
	ok, err := first.next()
	if ok {
		heap.Fix(m, 0)
	} else {
		heap.Remove(m, 0)
	}
	return least, err
}

func (m *merging[K]) each(fn func(K) bool) error {
	all := *m
	*m = (*m)[:0]
	for _, s := range all {
		ok, err := s.next()
		if err != nil {
			return err
		}
		if ok {
			heap.Push(m, s)
		}
	}
	for m.Len() > 0 {
		k, err := m.pop()
		for err == nil && m.Len() > 0 && (*m)[0].head.compare(k) == 0 {
			joined, ok := k.with((*m)[0].head)
			if !ok {
				break
			}
			k = joined
			_, err = m.pop()
		}
		if err != nil {
			return err
		}
		if !fn(k) {
			return nil
		}
	}
	return nil
}

// runFile is a temporary file that several goroutines write to. The zero value
// is ready.
type runFile struct {
	mu   sync.Mutex
	file *os.File // nil until something is written
	end  int64
}

func (f *runFile) write(data []byte) (stretch, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := stretch{f.end, int64(len(data))}
	if f.file == nil {
		file, err := os.CreateTemp("", "wap-values-*")
		if err != nil {
			return at, fmt.Errorf("create temporary file for values: %w", err)
		}
		f.file = file
		// Unlinked at once: nothing is left behind, however the process ends.
		if err := os.Remove(file.Name()); err != nil {
			return at, fmt.Errorf("unlink temporary file for values: %w", err)
		}
	}
	if _, err := f.file.WriteAt(data, f.end); err != nil {
		return at, fmt.Errorf("write temporary file for values: %w", err)
	}
	f.end += at.length
	return at, nil
}

func (f *runFile) close() error {
	if f.file == nil {
		return nil
	}
	if err := f.file.Close(); err != nil {
		return fmt.Errorf("close temporary file for values: %w", err)
	}
	return nil
}
