package org.revenantdb.recovery.segment;

import org.revenantdb.recovery.file.StorageFile;

/**
 * A segment that the log writer writes to.
 *
 * @param place its positions
 * @param file its file, header written and forced
 */
public record Segment(SegmentPlace place, StorageFile file) {}
