package storetest

import (
	"io/fs"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolpost/toolpost/store"
)

// inTime runs a test in a bubble, with a second between what it does.
func inTime(t *testing.T, open Open, opts *store.Options, test func(t *testing.T, s store.Store, wait func())) {
	synctest.Test(t, func(t *testing.T) {
		test(t, open(t, opts), func() { time.Sleep(time.Second) })
	})
}

// touch uses a blob.
func touch(t *testing.T, s store.Store, name string) {
	t.Helper()
	b, err := s.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if since := time.Since(b.Info().Used).Abs(); since > time.Millisecond {
		t.Errorf("%s is opened, and used %v ago", name, since)
	}
	closeBlob(t, b)
}

func testOrder(t *testing.T, open Open) {
	inTime(t, open, nil, func(t *testing.T, s store.Store, wait func()) {
		start := time.Now()
		for _, name := range []string{"c", "a", "b"} {
			wait()
			put(t, s, name, []byte(name))
		}
		checkListed(t, s, "c", "a", "b")
		wait()
		touch(t, s, "a")
		checkListed(t, s, "c", "b", "a")
		wait()
		touch(t, s, "c")
		checkListed(t, s, "b", "a", "c")
		for info, err := range s.List(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if created, used := info.Created.Sub(start), info.Used.Sub(start); info.Name == "a" && (created != 2*time.Second || used != 4*time.Second) {
				t.Errorf("created after %v, used after %v", created, used)
			}
		}
		for range s.List(t.Context()) {
			break
		}
	})
}

func testTTL(t *testing.T, open Open) {
	inTime(t, open, &store.Options{TTL: time.Hour}, func(t *testing.T, s store.Store, wait func()) {
		put(t, s, "old", []byte("old"))
		put(t, s, "used", []byte("used"))
		put(t, s, "read", []byte("read"))
		b, err := s.Open(t.Context(), "read")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour - time.Second)
		touch(t, s, "used")
		if n := len(names(t, s)); n != 3 {
			t.Errorf("%d blobs are left before their time", n)
		}
		wait()
		missing(t, s, "old")
		fails(t, "remove what has expired", s.Remove(t.Context(), "old"), fs.ErrNotExist)
		put(t, s, "old", []byte("again"))
		checkListed(t, s, "read", "used", "old")
		_, err = s.Create(t.Context(), "read")
		fails(t, "create what is being read", err, fs.ErrExist)
		if got := string(content(t, b)); got != "read" {
			t.Errorf("the reader got %q", got)
		}
		closeBlob(t, b)
		checkListed(t, s, "used", "old")
		missing(t, s, "read")
		put(t, s, "read", []byte("again"))
		holds(t, s, "read", "again")
	})
}

func testForever(t *testing.T, open Open) {
	inTime(t, open, &store.Options{TTL: -1}, func(t *testing.T, s store.Store, _ func()) {
		put(t, s, "a", nil)
		time.Sleep(10_000 * time.Hour)
		touch(t, s, "a")
	})
	inTime(t, open, nil, func(t *testing.T, s store.Store, wait func()) {
		put(t, s, "a", nil)
		time.Sleep(7*24*time.Hour - time.Second)
		checkListed(t, s, "a")
		wait()
		checkListed(t, s)
	})
}

func testCap(t *testing.T, open Open) {
	inTime(t, open, &store.Options{Max: 350_000}, func(t *testing.T, s store.Store, wait func()) {
		for _, name := range []string{"a", "b", "c"} {
			put(t, s, name, text(100_000))
			wait()
		}
		checkListed(t, s, "a", "b", "c")
		touch(t, s, "a")
		wait()
		put(t, s, "d", text(100_000))
		checkListed(t, s, "c", "a", "d")
		missing(t, s, "b")
		wait()
		put(t, s, "e", text(240_000))
		checkListed(t, s, "d", "e")
		wait()
		put(t, s, "b", text(340_000))
		checkListed(t, s, "b")
	})
}

func testCapReaders(t *testing.T, open Open) {
	inTime(t, open, &store.Options{Max: 350_000}, func(t *testing.T, s store.Store, wait func()) {
		for _, name := range []string{"a", "b"} {
			put(t, s, name, text(150_000))
			wait()
		}
		a, err := s.Open(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		wait()
		touch(t, s, "b")
		wait()
		put(t, s, "c", text(150_000)) // "a" is older, and being read
		checkListed(t, s, "a", "c")
		wait()
		_, err = try(t.Context(), s, "d", text(300_000))
		fails(t, "commit more than there is room for beside what is read", err, store.ErrFull)
		missing(t, s, "d")
		if got := content(t, a); string(got) != string(text(150_000)) {
			t.Errorf("the reader got %d other bytes", len(got))
		}
		closeBlob(t, a)
		put(t, s, "d", text(300_000))
		checkListed(t, s, "d")
	})
}

func testTooLarge(t *testing.T, open Open) {
	s := open(t, &store.Options{Max: 100_000})
	put(t, s, "a", text(10_000))
	w := create(t, s, "large")
	var err error
	for n := 0; n < 20 && err == nil; n++ {
		_, err = w.Write(text(10_000))
	}
	fails(t, "write beyond the cap", err, store.ErrFull)
	_, err = w.Write([]byte("x"))
	fails(t, "write after a failed one", err, store.ErrFull)
	_, err = w.Commit()
	fails(t, "commit after a failed write", err, store.ErrFull)
	missing(t, s, "large")
	checkListed(t, s, "a")
}
