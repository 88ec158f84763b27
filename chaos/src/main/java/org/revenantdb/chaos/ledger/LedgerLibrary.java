package org.revenantdb.chaos.ledger;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;

/** The library that a {@link Ledger} needs, which tests of process death have to add. */
public final class LedgerLibrary {

  private static final String TYPE = "net.openhft.chronicle.bytes.MappedBytes";

  /** Written by the build, so that only the POM contains the version. */
  private static final String ARTIFACT = "library.properties";

  private LedgerLibrary() {}

  /**
   * Returns whether the library is on the class path.
   *
   * @return true if it is
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
   * Returns what to do if the library is missing.
   *
   * @return a sentence with group, artifact and version
   */
  public static String missing() {
    return "the promises of a killed process are kept with Chronicle Bytes, which is not"
        + " on the class path: add "
        + coordinates()
        + " to the test dependencies";
  }

  /**
   * The name of the library in a repository.
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
