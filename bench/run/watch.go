package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

// watching measures how long after an operation has ended in a workspace a
// watcher of the server hears of it: made durable here, sent, made durable and
// merged there, and told.
func (y *yard) watching(dir string) (f figure, err error) {
	req, err := http.NewRequest(http.MethodGet, "http://"+y.addr+"/repo/project/watch", nil)
	if err != nil {
		return f, err
	}
	req.Header.Set("Authorization", "Bearer "+benchToken)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return f, err
	}
	defer resp.Body.Close()
	heard := make(chan time.Duration, 100)
	go listen(resp.Body, heard)
	<-heard // where the head was
	var took []time.Duration
	for range 25 {
		if err := y.run(dir, y.tandem, "new"); err != nil {
			return f, err
		}
		select {
		case d := <-heard:
			took = append(took, d)
		case <-time.After(10 * time.Second):
			return f, fmt.Errorf("a watcher heard nothing of an operation")
		}
	}
	slices.Sort(took)
	median := took[len(took)/2]
	return figure{what: "from the end of an operation until a watcher hears of it, median", value: span(median),
		compared: fmt.Sprintf("%s the slowest of %d", span(took[len(took)-1]), len(took)),
		target:   "< 50 ms", met: median < 50*time.Millisecond}, nil
}

// listen says of every change of a head how long ago its operation ended.
func listen(body io.Reader, to chan<- time.Duration) {
	for in := bufio.NewScanner(body); in.Scan(); {
		data, ok := strings.CutPrefix(in.Text(), "data: ")
		var change struct{ Time time.Time }
		if ok && json.Unmarshal([]byte(data), &change) == nil {
			to <- time.Since(change.Time)
		}
	}
}
