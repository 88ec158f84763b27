package org.revenantdb.chaos.ledger;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;

/** The library that a {@link Ledger} needs, which a user of process death has to bring along. */
public final class LedgerLibrary {

  private static final String TYPE = "net.openhft.chronicle.bytes.MappedBytes";

  /** Written by the build, so that the version stands in the POM alone. */
  private static final String ARTIFACT = "library.properties";

  private LedgerLibrary() {}

  /**
   * Whether it is on the class path.
   *
   * @return true if so
   */
  public static boolean isHere() {
    try {
      Class.forName(TYPE, /* initialize= */ false, LedgerLibrary.class.getClassLoader());
      return true;
    } catch (ClassNotFoundException e) {
      return false;
    }
  }

  /**
   * What to do if it is not.
   *
   * @return a sentence that names group, artifact and version
   */
  public static String missing() {
    return "what a process promised before it was killed is kept with Chronicle Bytes, which is not"
        + " on the class path: add "
        + coordinates()
        + " to the test dependencies";
  }

  /**
   * Its name in a repository.
   *
   * @return {@code groupId:artifactId:version}
   */
  static String coordinates() {
    Properties properties = new Properties();
    try (InputStream in = LedgerLibrary.class.getResourceAsStream(ARTIFACT)) {
      if (in == null) {
        throw new IllegalStateException("the build made no " + ARTIFACT);
      }
      properties.load(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return "net.openhft:chronicle-bytes:" + properties.getProperty("version");
  }
}
