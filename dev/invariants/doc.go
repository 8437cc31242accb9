// Package invariants holds what is promised of schema/internal/lower against schemas of
// real servers, odd ones and random ones, for every dialect. Package accept,
// which shares no code with what is tested, decides what a reader accepts and
// whether a value is valid.
package invariants
