package client

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A server that was killed in the midst of an operation was told as an address to check, and not that the operation may have happened.
func TestACallThatIsCutOffMayHaveHappened(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		c.Close()
	}))
	defer s.Close()
	err := Remote(s.URL, "", nil).Call(t.Context(), "resource.put", struct{}{}, nil)
	if err == nil || !strings.Contains(err.Error(), "before it answered") {
		t.Errorf("it says %v", err)
	}
}
