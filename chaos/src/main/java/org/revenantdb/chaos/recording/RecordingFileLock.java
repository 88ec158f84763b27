package org.revenantdb.chaos.recording;

import java.io.IOException;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;

/** A lock of the file system below on a recorded channel. Locks are not recorded. */
final class RecordingFileLock extends FileLock {

  private final FileLock delegate;

  RecordingFileLock(FileChannel channel, FileLock delegate) {
    super(channel, delegate.position(), delegate.size(), delegate.isShared());
    this.delegate = delegate;
  }

  RecordingFileLock(AsynchronousFileChannel channel, FileLock delegate) {
    super(channel, delegate.position(), delegate.size(), delegate.isShared());
    this.delegate = delegate;
  }

  @Override
  public boolean isValid() {
    return delegate.isValid();
  }

  @Override
  public void release() throws IOException {
    delegate.release();
  }
}
