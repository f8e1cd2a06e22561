package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tandem/internal/memory"
	"tandem/internal/memory/wire"
)

// modelFrom is the model that is asked beside the table: LOCOMO_MODEL names a folder of one, or the address of an endpoint for embeddings.
func modelFrom(where string) (memory.Models, wire.ModelSetIn, error) {
	in := wire.ModelSetIn{Asks: os.Getenv("LOCOMO_ASKS"), Tells: os.Getenv("LOCOMO_TELLS")}
	m := memory.Models{House: "bench", Ask: func(ctx context.Context, _, _ string, texts []string) ([][]float32, error) {
		return embeddings(ctx, where, texts)
	}, Leaves: func(context.Context, string, string) (bool, error) { return false, nil }}
	if strings.Contains(where, "://") {
		in.Endpoint = "bench/model"
		return m, in, nil
	}
	f, err := os.Open(filepath.Join(where, "model.safetensors"))
	if err != nil {
		return m, in, err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	in.Files, in.Digest = where, hex.EncodeToString(h.Sum(nil))
	return m, in, err
}

// embeddings asks an endpoint.
func embeddings(ctx context.Context, address string, texts []string) ([][]float32, error) {
	body, err := json.Marshal(map[string]any{"model": "bench", "input": texts})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	var out struct {
		Data []struct{ Embedding []float32 }
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, 1<<26)).Decode(&out); err != nil {
		return nil, err
	}
	all := make([][]float32, len(out.Data))
	for i, d := range out.Data {
		all[i] = d.Embedding
	}
	return all, nil
}

// byModel asks our own search when a model has seen every turn.
func byModel(file string, c conversation) (func(string) ([]string, error), error) {
	m, err := remembered(file, c)
	if err != nil {
		return nil, err
	}
	models, in, err := modelFrom(os.Getenv("LOCOMO_MODEL"))
	if err != nil {
		return nil, err
	}
	models.Folder = file + ".models"
	m.room.Models = models
	if _, err := m.invoke(string(wire.ModelSet), in); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(m.ctx)
	defer stop()
	go m.room.Run(ctx)
	for {
		got, err := m.invoke(string(wire.Model), wire.ModelIn{})
		if err != nil {
			return nil, err
		}
		of := got.(wire.ModelOut)
		if of.State == wire.ModelFailed {
			return nil, errors.New(of.Problem)
		}
		if of.State == wire.ModelReady && of.Pointed == of.Records {
			return m.turns(c, late), nil
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// late says that an answer was made without the model, which it would not be a moment later. A phrase in quotes is found by words alone.
func late(how string) bool {
	return strings.Contains(how, "did not answer") || strings.Contains(how, "could not be asked") || strings.Contains(how, "still being read")
}
