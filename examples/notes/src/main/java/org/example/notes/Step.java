package org.example.notes;

import java.time.Instant;

/** A change that can be undone: {@code before} is the note as it was, or null if there was none. */
record Step(long note, Note before, Instant since) {}
