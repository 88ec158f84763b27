package org.revenantdb.suite.big;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.util.HexFormat;
import org.revenantdb.chaos.crash.ChildPipe;
import org.revenantdb.suite.model.Store;
import org.revenantdb.suite.model.Store.Check;
import org.revenantdb.suite.model.Store.Limits;
import org.revenantdb.suite.model.Store.Tx;
import org.revenantdb.suite.model.Stores;

/**
 * The child of the test of one big value: streams it in and, if it is not killed, out again.
 *
 * <p>Its lines: {@code V yes|no} whether the value existed at the opening, {@code P n} n bytes were
 * read from the stream, {@code D} the value is committed, {@code H hash} the SHA-256 of the value
 * read back, {@code K n} the number of pages that could not be cleaned, {@code F text} a finding of
 * the check.
 */
public final class BigValueMain {

  static final String TABLE = "big";
  private static final byte[] KEY = {1};
  private static final long SAY_EVERY = 1 << 20;

  private BigValueMain() {}

  /**
   * Runs the child.
   *
   * @param arguments opener class, directory, bytes of pool and log, version of the value, its
   *     length
   */
  public static void main(String[] arguments) {
    ChildPipe pipe = ChildPipe.open();
    try {
      Store.Opener opener = Stores.opener(arguments[0]);
      Path dir = Path.of(arguments[1]);
      long version = Long.parseLong(arguments[4]);
      long length = Long.parseLong(arguments[5]);
      try (Store store = opener.open(dir, Limits.of(arguments[2], arguments[3]))) {
        pipe.say(isThere(store) ? "V yes" : "V no");
        put(store, Stores.value(version, length), pipe);
        pipe.say("D");
        pipe.say("H " + hashOfValue(store));
        store.clean();
        Check check = store.check();
        if (!check.problems().isEmpty()) {
          pipe.say("F " + String.join("; ", check.problems()));
        }
        pipe.say("K " + check.pagesToClean());
      }
    } catch (Throwable e) {
      e.printStackTrace();
      Runtime.getRuntime().halt(3);
    }
  }

  private static boolean isThere(Store store) throws IOException {
    try (Tx tx = store.begin();
        InputStream in = tx.open(TABLE, KEY)) {
      return in != null;
    }
  }

  private static void put(Store store, InputStream value, ChildPipe pipe) throws IOException {
    try (Tx tx = store.begin()) {
      tx.put(TABLE, KEY, new Told(value, pipe));
      tx.commit();
    }
  }

  private static String hashOfValue(Store store) throws Exception {
    MessageDigest sha = MessageDigest.getInstance("SHA-256");
    try (Tx tx = store.begin();
        InputStream in = tx.open(TABLE, KEY)) {
      if (in == null) {
        return "nothing";
      }
      try (InputStream hashed = new DigestInputStream(in, sha)) {
        hashed.transferTo(OutputStream.nullOutputStream());
      }
    }
    return HexFormat.of().formatHex(sha.digest());
  }

  /** Reports how much was read from the stream. */
  private static final class Told extends FilterInputStream {

    private final ChildPipe pipe;
    private long taken;
    private long told;

    Told(InputStream in, ChildPipe pipe) {
      super(in);
      this.pipe = pipe;
    }

    @Override
    public int read() throws IOException {
      int b = super.read();
      count(b < 0 ? 0 : 1);
      return b;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      int n = super.read(target, offset, length);
      count(Math.max(n, 0));
      return n;
    }

    private void count(int more) {
      taken += more;
      if (taken - told >= SAY_EVERY) {
        told = taken;
        pipe.say("P " + taken);
      }
    }
  }
}
