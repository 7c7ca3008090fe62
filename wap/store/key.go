package store

import (
	"errors"
	"fmt"
	"strings"
)

// checkKey refuses keys that could name anything outside the root, or the same
// object as another key does: every backend must agree on what a key is.
func checkKey(key string) error {
	if key == "" {
		return errors.New("key is empty")
	}
	if strings.IndexByte(key, 0) >= 0 {
		return fmt.Errorf("key %q holds a zero byte", key)
	}
	for part := range strings.SplitSeq(key, "/") {
		switch part {
		case "":
			return fmt.Errorf("key %q has an empty component", key)
		case ".", "..":
			return fmt.Errorf("key %q is not a plain path below the root", key)
		}
	}
	return nil
}

// checkPrefix does the same for List. The last component is a piece of a name,
// so that "a/" and "a/.." (as in "a/..b") are both fine.
func checkPrefix(prefix string) error {
	if i := strings.LastIndexByte(prefix, '/'); i >= 0 {
		return checkKey(prefix[:i])
	}
	return nil
}

// notSent wraps an error that happened before anything was asked of the store.
func notSent(verb, key string, err error) error {
	return fmt.Errorf("%s object %q: %w: %w", verb, key, ErrNotSent, err)
}

// checkVersion refuses the zero Version: it would turn a pinned read or a
// conditional write into an unconditional one.
func checkVersion(v Version) error {
	if v.ETag == "" {
		return errors.New("version has no etag")
	}
	return nil
}
