package org.revenantdb.suite.model;

import java.io.IOException;
import java.io.InputStream;

/** Returns some bytes and then throws. */
final class BrokenStream extends InputStream {

  /** The exception it throws. */
  static final class Broken extends IOException {

    private static final long serialVersionUID = 1L;

    Broken() {
      super("this stream breaks on purpose");
    }
  }

  private long left;

  BrokenStream(long bytes) {
    left = bytes;
  }

  @Override
  public int read() throws IOException {
    if (left == 0) {
      throw new Broken();
    }
    left--;
    return (int) left & 0xFF;
  }

  @Override
  public int read(byte[] target, int offset, int count) throws IOException {
    if (left == 0 && count > 0) {
      throw new Broken();
    }
    int n = (int) Math.min(left, count);
    left -= n;
    return n;
  }
}
