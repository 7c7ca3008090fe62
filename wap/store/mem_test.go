package store_test

import (
	"testing"

	"github.com/wap-cli/wap/wap/store"
	"github.com/wap-cli/wap/wap/store/storetest"
)

func TestMemConformance(t *testing.T) {
	storetest.Run(t, func(*testing.T) storetest.Handle {
		m := new(store.Mem)
		return func() store.Store { return m }
	})
}
