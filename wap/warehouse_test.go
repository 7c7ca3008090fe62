package wap

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/wap-cli/wap/wap/store"
)

// unreadable is a store that answers no read.
type unreadable struct{ store.Store }

func (unreadable) Get(context.Context, string) ([]byte, store.Version, error) {
	return nil, store.Version{}, errors.New("no answer")
}

// A warehouse that cannot be opened is named: of several in use one is meant.
func TestOpenNamesTheWarehouse(t *testing.T) {
	l := newLab(t)
	_, err := Open(context.Background(), l.config(unreadable{l.store}))
	wantCode(t, err, 1)
	if !strings.Contains(err.Error(), "open warehouse s3://lab/lake: ") || !strings.Contains(err.Error(), "no answer") {
		t.Error(err)
	}
}
