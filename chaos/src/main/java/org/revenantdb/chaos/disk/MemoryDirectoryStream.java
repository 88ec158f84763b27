package org.revenantdb.chaos.disk;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/** The entries that a directory had when it was opened, in the order of their names. */
final class MemoryDirectoryStream implements DirectoryStream<Path> {

  private final MemoryPath directory;
  private final List<String> entries;
  private final Filter<? super Path> filter;
  private final NameSpace names;
  private volatile boolean closed;
  private boolean iterated;

  MemoryDirectoryStream(
      MemoryPath directory, List<String> entries, Filter<? super Path> filter, NameSpace names) {
    this.directory = directory;
    this.entries = entries;
    this.filter = filter;
    this.names = names;
  }

  @Override
  public synchronized Iterator<Path> iterator() {
    if (closed) {
      throw new IllegalStateException("Directory stream is closed");
    }
    if (iterated) {
      throw new IllegalStateException("Iterator already obtained");
    }
    iterated = true;
    return new Entries();
  }

  @Override
  public void close() {
    closed = true;
    names.forget(this);
  }

  /** The one walk over the entries; it ends early if the stream is closed. */
  private final class Entries implements Iterator<Path> {

    private int at;
    private @Nullable Path next;

    @Override
    public boolean hasNext() {
      while (next == null && at < entries.size() && !closed) {
        Path entry = directory.resolve(directory.getFileSystem().getPath(entries.get(at++)));
        next = accepted(entry) ? entry : null;
      }
      return next != null;
    }

    private boolean accepted(Path entry) {
      try {
        return filter.accept(entry);
      } catch (IOException e) {
        throw new DirectoryIteratorException(e);
      }
    }

    @Override
    public Path next() {
      Path result = hasNext() ? next : null;
      if (result == null) {
        throw new NoSuchElementException();
      }
      next = null;
      return result;
    }
  }
}
