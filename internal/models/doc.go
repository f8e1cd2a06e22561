// Package models keeps which models a house has: the providers that people added beside the known ones, their keys, and the model of
// sessions that name none. What is told to a model goes where its provider's row says, so the journal vouches for each.
package models
