// Package requirements checks that docs/evidence/requirements.md covers every line of the
// five files of requirements, that docs/evidence/behaviour.md has all of its rows, and that
// every test that a document names exists.
package requirements
