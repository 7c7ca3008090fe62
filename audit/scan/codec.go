package scan

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// codec is a compression method as numbered by parquet.thrift.
type codec int32

const (
	uncompressed codec = 0
	snappyCodec  codec = 1
	gzipCodec    codec = 2
	brotliCodec  codec = 4
	lz4Hadoop    codec = 5
	zstdCodec    codec = 6
	lz4Raw       codec = 7
)

func (c codec) String() string {
	names := [...]string{"UNCOMPRESSED", "SNAPPY", "GZIP", "LZO", "BROTLI", "LZ4", "ZSTD", "LZ4_RAW"}
	if c >= 0 && int(c) < len(names) {
		return names[c]
	}
	return fmt.Sprintf("CODEC(%d)", int32(c))
}

func (c codec) supported() bool {
	switch c {
	case uncompressed, snappyCodec, gzipCodec, brotliCodec, lz4Hadoop, zstdCodec, lz4Raw:
		return true
	}
	return false
}

// zstdDecoder is made once: it is costly, stateless as it is used here, and safe
// for concurrent use.
var zstdDecoder = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderConcurrency(0))
})

// inflater decompresses the pages of one column chunk. It is not for concurrent
// use.
type inflater struct {
	codec  codec
	gzip   *gzip.Reader
	brotli *brotli.Reader

	frame, blocks []byte // memory for zstdFront
	want          int    // how much of the stream its next step takes, if known
}

// check refuses a page whose sizes cannot both be true, before memory is taken
// for the larger one: what the stream itself declares, or a ratio that the
// method cannot reach.
func (z *inflater) check(src []byte, size int) error {
	plausible := true
	switch z.codec {
	case uncompressed:
		plausible = len(src) == size
	case snappyCodec:
		if size == 0 && len(src) == 0 {
			return nil
		}
		n, err := snappy.DecodedLen(src)
		plausible = err == nil && n == size
	case zstdCodec:
		var head zstd.Header
		if err := head.Decode(src); err == nil && head.HasFCS && !head.Skippable {
			// More frames may follow the first.
			plausible = head.FrameContentSize <= uint64(size)
		}
	case gzipCodec:
		plausible = int64(size) <= 1100*int64(len(src))
	case lz4Raw, lz4Hadoop:
		plausible = int64(size) <= 256*int64(len(src))
	}
	if !plausible {
		return faultf(BadPage, "%d bytes of %s cannot hold %d", len(src), z.codec, size)
	}
	return nil
}

// inflate fills dst from src, exactly; anything else is an error.
func (z *inflater) inflate(dst, src []byte) error {
	if len(dst) == 0 {
		return nil // nothing is needed, whatever an empty stream looks like
	}
	err := contain(BadPage, func() error {
		n, err := z.run(dst, src)
		if err == nil && n != len(dst) {
			err = fmt.Errorf("%d bytes, the page header says %d", n, len(dst))
		}
		return err
	})
	if err != nil {
		return faultf(BadPage, "decompress %s: %w", z.codec, err)
	}
	return nil
}

func (z *inflater) run(dst, src []byte) (int, error) {
	switch z.codec {
	case uncompressed:
		return copy(dst, src), nil
	case snappyCodec:
		out, err := snappy.Decode(dst, src)
		return len(out), err
	case zstdCodec:
		dec, err := zstdDecoder()
		if err != nil {
			return 0, err
		}
		out, err := dec.DecodeAll(src, dst[:0:len(dst)])
		return len(out), err
	case lz4Raw:
		return lz4.UncompressBlock(src, dst)
	case lz4Hadoop:
		return inflateHadoop(dst, src)
	case gzipCodec, brotliCodec:
		r, err := z.stream(src)
		if err != nil {
			return 0, err
		}
		return fillExactly(dst, r)
	}
	return 0, errors.New("codec not supported")
}

// stream opens src for reading piece by piece.
func (z *inflater) stream(src []byte) (io.Reader, error) {
	in := bytes.NewReader(src)
	if z.codec == gzipCodec {
		if z.gzip == nil {
			z.gzip = new(gzip.Reader)
		}
		return z.gzip, z.gzip.Reset(in)
	}
	if z.brotli == nil {
		z.brotli = brotli.NewReader(in)
		return z.brotli, nil
	}
	return z.brotli, z.brotli.Reset(in)
}

// fillExactly reads dst full and makes sure that r then ends.
func fillExactly(dst []byte, r io.Reader) (int, error) {
	n, err := io.ReadFull(r, dst)
	if err != nil {
		return n, err
	}
	var more [1]byte
	switch k, err := io.ReadFull(r, more[:]); {
	case k > 0:
		return n, errors.New("more bytes than the page header says")
	case err != io.EOF:
		return n, err
	}
	return n, nil
}

// inflateHadoop reads the deprecated LZ4 codec: Hadoop's frames, each the sizes
// after and before decompression (big-endian) and a block. Some writers wrote a
// bare block under the same number.
func inflateHadoop(dst, src []byte) (int, error) {
	const frameHead = 8
	n := 0
	for rest := src; len(rest) > 0; {
		if len(rest) < frameHead {
			return lz4.UncompressBlock(src, dst)
		}
		size, packed := binary.BigEndian.Uint32(rest), binary.BigEndian.Uint32(rest[4:])
		rest = rest[frameHead:]
		if uint64(packed) > uint64(len(rest)) || uint64(size) > uint64(len(dst)-n) {
			return lz4.UncompressBlock(src, dst)
		}
		k, err := lz4.UncompressBlock(rest[:packed], dst[n:n+int(size)])
		if err != nil || k != int(size) {
			return lz4.UncompressBlock(src, dst)
		}
		n, rest = n+k, rest[packed:]
	}
	return n, nil
}
