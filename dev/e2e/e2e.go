// Package e2e follows calls through the whole module, from one end to the
// other: its tests run the flows that docs/architecture.md describes.
package e2e
