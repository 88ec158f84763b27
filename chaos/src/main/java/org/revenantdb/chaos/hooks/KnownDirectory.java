package org.revenantdb.chaos.hooks;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/**
 * What the agent's record has of the directory under test: its names, and what of it is open and
 * mapped.
 *
 * <p>Threads: see the parts; a new record begins while no other thread uses the directory.
 */
final class KnownDirectory {

  private final OpenFiles open = new OpenFiles();
  private final SharedPages pages;
  private Names names = new Names();
  private RootPaths paths = new RootPaths("/", "/");

  /**
   * Knows nothing.
   *
   * @param memory all of the process's memory
   * @param store receives the pages that have changed
   */
  KnownDirectory(MemorySegment memory, SharedPages.Store store) {
    this.pages = new SharedPages(memory, store);
  }

  /** Forgets all, and is about an empty directory. */
  void begin(Path directory) {
    paths = new RootPaths(directory.toString(), System.getProperty("user.dir"));
    names = new Names();
    var _ = forgets();
  }

  /** Forgets what is open and mapped; whether there was something. */
  boolean forgets() {
    boolean wasOpen = open.clear();
    boolean wasMapped = pages.clear();
    return wasOpen || wasMapped;
  }

  OpenFiles open() {
    return open;
  }

  SharedPages pages() {
    return pages;
  }

  Names names() {
    return names;
  }

  RootPaths paths() {
    return paths;
  }
}
