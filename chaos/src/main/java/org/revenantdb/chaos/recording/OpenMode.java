package org.revenantdb.chaos.recording;

import java.nio.file.OpenOption;
import java.nio.file.StandardOpenOption;
import java.util.Set;

/**
 * The meaning of the options of an open call.
 *
 * @param read whether it can be read
 * @param write whether it can be written
 * @param append whether every write goes to the end
 * @param create whether a missing file is created
 * @param truncate whether existing content is deleted
 * @param sync whether every write is forced, with metadata
 * @param dataSync whether every write is forced
 */
record OpenMode(
    boolean read,
    boolean write,
    boolean append,
    boolean create,
    boolean truncate,
    boolean sync,
    boolean dataSync) {

  static OpenMode of(Set<? extends OpenOption> options) {
    boolean append = options.contains(StandardOpenOption.APPEND);
    boolean write = append || options.contains(StandardOpenOption.WRITE);
    boolean createNew = options.contains(StandardOpenOption.CREATE_NEW);
    return new OpenMode(
        options.contains(StandardOpenOption.READ) || !write,
        write,
        append,
        write && (createNew || options.contains(StandardOpenOption.CREATE)),
        write && !append && !createNew && options.contains(StandardOpenOption.TRUNCATE_EXISTING),
        options.contains(StandardOpenOption.SYNC),
        options.contains(StandardOpenOption.DSYNC));
  }

  boolean forcesWrites() {
    return sync || dataSync;
  }
}
