package scan

import (
	"encoding/binary"
	"errors"
)

const (
	zstdMagic     = 0xfd2fb528
	zstdBlockMax  = 128 << 10
	zstdWindow8M  = 0x68 // window descriptor: 2^(10+13) bytes
	zstdBlockHead = 3
)

// zstdFront decodes the first blocks of a Zstandard frame, as many as fill dst
// and are whole in src. They become a frame of their own: the old header says
// how long the content is, and how large the window, which for some writers is
// the content again; a streaming decoder would allocate all of that to yield
// the first bytes.
func (z *inflater) zstdFront(dst, src []byte) (int, error) {
	head, ok, err := zstdFrameHead(src)
	if !ok || err != nil {
		return 0, err
	}
	frame := binary.LittleEndian.AppendUint32(z.frame[:0], zstdMagic)
	defer func() { z.frame = frame }()
	frame = append(frame, 0, zstdWindow8M)
	blocks, last := 0, 0
	z.want = 0
	for rest := src[head:]; len(rest) >= zstdBlockHead; {
		word := uint32(rest[0]) | uint32(rest[1])<<8 | uint32(rest[2])<<16
		size := int(word >> 3)
		if word>>1&3 == 1 {
			size = 1 // a run: one byte, repeated
		}
		if zstdBlockHead+size > len(rest) {
			z.want = len(src) - len(rest) + zstdBlockHead + size
			break
		}
		last = len(frame)
		frame = append(frame, rest[:zstdBlockHead+size]...)
		rest = rest[zstdBlockHead+size:]
		blocks++
		if word&1 == 1 {
			break
		}
		if blocks*zstdBlockMax >= len(dst) {
			n, err := z.zstdBlocks(dst, frame, last, blocks)
			if err != nil || n == len(dst) {
				return n, err
			}
		}
	}
	if blocks == 0 {
		return 0, nil
	}
	return z.zstdBlocks(dst, frame, last, blocks)
}

// zstdBlocks decodes a frame as if its last block, which begins at last, were
// marked as such.
func (z *inflater) zstdBlocks(dst, frame []byte, last, blocks int) (int, error) {
	dec, err := zstdDecoder()
	if err != nil {
		return 0, err
	}
	// No block is longer than the maximum, so this is enough.
	if size := blocks * zstdBlockMax; cap(z.blocks) < size {
		z.blocks = make([]byte, 0, size)
	}
	mark := frame[last]
	frame[last] |= 1
	out, err := dec.DecodeAll(frame, z.blocks[:0])
	frame[last] = mark
	return copy(dst, out), err
}

// zstdFrameHead returns the length of a frame's header; false when src is too
// short to tell.
func zstdFrameHead(src []byte) (n int, ok bool, err error) {
	if len(src) < 5 {
		return 0, false, nil
	}
	if binary.LittleEndian.Uint32(src) != zstdMagic {
		return 0, false, errors.New("no frame at the beginning")
	}
	flags := src[4]
	single := flags>>5&1 == 1
	n = 5
	if !single {
		n++ // window descriptor
	}
	if dict := flags & 3; dict != 0 {
		return 0, false, errors.New("the frame needs a dictionary")
	}
	switch flags >> 6 {
	case 0:
		if single {
			n++
		}
	case 1:
		n += 2
	case 2:
		n += 4
	case 3:
		n += 8
	}
	return n, n <= len(src), nil
}
