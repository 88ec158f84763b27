package org.revenantdb.recovery.segment;

import org.revenantdb.recovery.file.StorageFile;

/**
 * A segment that the log writer writes to.
 *
 * @param number its number
 * @param file its file, header written and forced
 */
public record Segment(long number, StorageFile file) {}
