package stream

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestAStreamIsWrittenAsReadersTakeIt(t *testing.T) {
	flushed := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		o := Open(w)
		if err := o.Comment("hello"); err != nil {
			t.Error(err)
		}
		<-flushed // what was written so far is on its way
		for _, err := range []error{o.Event("7", "head", []byte(`{"a":1}`)), o.Event("", "", []byte("x")), o.Beat()} {
			if err != nil {
				t.Error(err)
			}
		}
	}))
	defer server.Close()
	got, err := http.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	if got.Header.Get("Content-Type") != "text/event-stream" || got.Header.Get("X-Accel-Buffering") != "no" {
		t.Errorf("headers %v", got.Header)
	}
	in := bufio.NewReader(got.Body)
	if line, err := in.ReadString('\n'); err != nil || line != ": hello\n" {
		t.Errorf("%q, %v", line, err)
	}
	close(flushed)
	rest, err := io.ReadAll(in)
	if want := "\nid: 7\nevent: head\ndata: {\"a\":1}\n\ndata: x\n\n: still here\n\n"; err != nil || string(rest) != want {
		t.Errorf("%q, %v", rest, err)
	}
}
