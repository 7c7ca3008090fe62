package s3test

import (
	"fmt"
	"net/http"
	"strings"
)

// Act is what becomes of a request on its way to the server.
type Act int

// The ways of a request.
const (
	// Forward lets it through.
	Forward Act = iota
	// Drop keeps it from the server for ever.
	Drop
	// Hold keeps it until Release: it reaches the server when its sender has long
	// been answered.
	Hold
	// Twice lets it through two times, and the second answer back.
	Twice
	// Strip lets it through without its condition, signed anew.
	Strip
)

// Answer is what the sender of a request gets to see.
type Answer int

// The answers. Those that are no server's own hold for a request that acted as
// well as for one that never arrived: a front may give them for either.
const (
	// Genuine is the server's. A request that did not reach it is Reset.
	Genuine Answer = iota
	// Reset ends the connection without an answer.
	Reset
	// InternalError is 500.
	InternalError
	// SlowDown is 503.
	SlowDown
	// InConflict is 409, ConditionalRequestConflict.
	InConflict
	// FailedPage is 412 with an HTML page.
	FailedPage
	// Denied is 403.
	Denied
	// Moved is 301 to another region.
	Moved
	// ErrorInside is 200, and an error document as body.
	ErrorInside
	// NoETag is the server's without its ETag, or an empty 200.
	NoETag
	// Truncated is the server's; the connection ends half-way in the body.
	Truncated
	// Short is half of the server's, which says of itself that it is whole.
	Short
	// Stale is what the last such request was answered: nothing written since is
	// seen.
	Stale
)

// Rule makes a request go wrong.
type Rule struct {
	Method string // of the requests that it counts
	Key    string // and the end of their objects' keys
	N      int    // the one that it strikes, from 1; 0 is 1
	Always bool   // it strikes all later ones, too
	Act    Act
	Answer Answer
	Before func() // called before the request goes anywhere
	After  func() // called when it acted, before its sender is answered

	seen, struck int
}

// counts reports whether the rule is about a request, and takes note of it.
func (r *Rule) counts(req *http.Request) bool {
	if r.Method != req.Method || req.URL.RawQuery != "" && !strings.HasPrefix(req.URL.RawQuery, "x-id=") || !strings.HasSuffix(req.URL.Path, r.Key) {
		return false
	}
	r.seen++
	return true
}

// strikes reports whether the request just counted is one that goes wrong.
func (r *Rule) strikes() bool {
	n := max(r.N, 1)
	if r.seen != n && (!r.Always || r.seen < n) {
		return false
	}
	r.struck++
	return true
}

func (r Rule) String() string {
	how := ""
	if r.Always {
		how = " and on"
	}
	return fmt.Sprintf("%s of request %d%s: %s %s", describe(r.Act, r.Answer), max(r.N, 1), how, r.Method, r.Key)
}

func describe(act Act, answer Answer) string { return act.String() + ", " + answer.String() }

func (a Act) String() string {
	return [...]string{"forwarded", "dropped", "held", "forwarded twice", "stripped of its condition"}[a]
}

func (a Answer) String() string {
	return [...]string{
		"answered", "reset", "500", "503", "409", "412 with a page", "403", "301", "200 with an error inside",
		"200 without etag", "cut off", "short", "stale",
	}[a]
}
