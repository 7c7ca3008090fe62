package store_test

import (
	"testing"

	"github.com/wap-cli/wap/wap/store"
	"github.com/wap-cli/wap/wap/store/storetest"
	"github.com/wap-cli/wap/wap/store/storetest/s3test"
)

func TestS3Conformance(t *testing.T) {
	for _, kind := range s3test.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			srv := s3test.Start(t, kind)
			srv.Setenv(t)
			storetest.Run(t, func(t *testing.T) storetest.Handle {
				root := srv.Root()
				return func() store.Store { return srv.Open(t, root) }
			})
		})
	}
}
