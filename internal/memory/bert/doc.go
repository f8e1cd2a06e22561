// Package bert computes where a text points by a small model of the BERT family (all-MiniLM-L6-v2, e5-small-v2, bge-small-en-v1.5): word
// pieces, embeddings, layers of attention and of a plain network, and the mean of what comes out, of length one. It computes only, in plain
// Go, and reads what it is given: a model's config.json, vocab.txt, 1_Pooling/config.json and model.safetensors, as they are published.
//
// The vectors of the vocabulary stay in the file, and are read piece by piece; the rest is held in memory.
//
// It refuses what it would compute wrongly (other activations, relative positions, vocabularies with capitals) and what is too large, and
// believes nothing in a file: every place, shape and length is checked before anything is read or held.
package bert
