package audit

import "sync"

// carried takes the first panic of some goroutines to the one that waits for
// them, where a caller can catch it. Left alone it would end the program.
type carried struct {
	once  sync.Once
	value any
	stop  func() // may be nil; called at the first panic
}

// catch is deferred in each goroutine.
func (c *carried) catch() {
	if v := recover(); v != nil {
		c.once.Do(func() {
			c.value = v
			if c.stop != nil {
				c.stop()
			}
		})
	}
}

// again panics as one of them did. All have ended.
func (c *carried) again() {
	if c.value != nil {
		panic(c.value)
	}
}
