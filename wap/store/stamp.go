package store

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// stamp is what a local file's ETag is made of: size, mtime, inode and ctime.
//
// It is sound for what wap writes because of how wap writes. Every Create and
// Swap makes a new inode, and each Swap gives the object an mtime later than
// the one it replaces (see temp.finish), so that size, mtime and inode together
// never come back under a key that is only swapped, however coarse the clock of
// the file system is and whichever inodes it uses again.
// The ctime is for files that others wrote: it moves when a file is changed in
// place and its mtime set back. It also moves when a file gains or loses a hard
// link, which the last step of Create does; so Swap, which guards objects that
// only wap writes, does not compare it. Upload and Create return when the ctime
// has its final value; restoring, copying or hard-linking a warehouse changes it.
type stamp struct {
	size         int64
	mtime, ctime int64 // nanoseconds since 1970
	inode        uint64
	device       uint64
	links        uint64
	mode         uint32
}

func newStamp(st *unix.Stat_t) stamp {
	return stamp{
		size:  st.Size,
		mtime: st.Mtim.Nano(),
		ctime: st.Ctim.Nano(),
		inode: st.Ino,
		// The widths of these differ between platforms.
		device: uint64(st.Dev),
		links:  uint64(st.Nlink),
		mode:   uint32(st.Mode),
	}
}

// statPath follows symbolic links: a warehouse may be laid out with them.
func statPath(path string) (stamp, error) {
	var st unix.Stat_t
	if err := again(func() error { return unix.Stat(path, &st) }); err != nil {
		return stamp{}, fmt.Errorf("stat: %w", err)
	}
	return newStamp(&st), nil
}

func statFile(fd uintptr) (stamp, error) {
	var st unix.Stat_t
	if err := again(func() error { return unix.Fstat(int(fd), &st) }); err != nil {
		return stamp{}, fmt.Errorf("stat: %w", err)
	}
	return newStamp(&st), nil
}

// again repeats a system call that a signal interrupted.
func again(call func() error) error {
	for {
		if err := call(); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

func (s stamp) regular() bool { return s.mode&unix.S_IFMT == unix.S_IFREG }
func (s stamp) folder() bool  { return s.mode&unix.S_IFMT == unix.S_IFDIR }

func (s stamp) entry(key string) Entry {
	return Entry{Key: key, Size: s.size, Version: s.version(), Modified: time.Unix(0, s.mtime).UTC()}
}

// version puts the ctime last, where samePut cuts it off.
func (s stamp) version() Version {
	return Version{ETag: fmt.Sprintf(`"%x-%x-%x-%x"`, s.size, uint64(s.mtime), s.inode, uint64(s.ctime))}
}

// samePut reports whether v names the object that the stamp was taken from, if
// only wap writes it: the ctime is not compared.
func (s stamp) samePut(v Version) bool {
	own := s.version().ETag
	i := strings.LastIndexByte(v.ETag, '-')
	return v.ID == "" && i >= 0 && v.ETag[:i] == own[:strings.LastIndexByte(own, '-')]
}

// sameBytes reports whether an open file was left alone between two stamps of
// it. A ctime that moved together with the number of links is the file being
// replaced or deleted, which its open descriptor does not see.
func (s stamp) sameBytes(later stamp) bool {
	return s.size == later.size && s.mtime == later.mtime &&
		(s.ctime == later.ctime || s.links != later.links)
}
