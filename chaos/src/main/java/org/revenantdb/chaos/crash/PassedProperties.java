package org.revenantdb.chaos.crash;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.Properties;

/**
 * The system properties of this JVM, for children that run the same subject: a store that is
 * configured by them must be the same store there.
 *
 * <p>They are in a variable of the environment, because they are too many for the command line and
 * a file would have to be deleted. A child sets those that it has no value of its own for. So its
 * own flags win, and what each JVM finds out about itself stays.
 *
 * <p>Threads: any.
 */
public final class PassedProperties {

  /** The variable. */
  static final String VARIABLE = "REVENANT_CHAOS_PROPERTIES";

  /** Long, and never what configures a store: class paths, and what the test runner notes. */
  private static final List<String> OMITTED =
      List.of("java.class.", "jdk.module.", "sun.java.command", "surefire.");

  /** Linux takes 128 KiB for one variable. */
  private static final int MOST_BYTES = 120 << 10;

  private PassedProperties() {}

  /** Puts them into the environment of a child. */
  static void putInto(Map<String, String> environment) {
    Properties texts = new Properties();
    System.getProperties()
        .forEach((name, value) -> {
          if (name instanceof String key
              && value instanceof String text
              && OMITTED.stream().noneMatch(key::startsWith)) {
            texts.setProperty(key, text);
          }
        });
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try {
      texts.store(bytes, null);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    if (bytes.size() > MOST_BYTES) {
      throw new IllegalStateException(
          "the system properties of this JVM have %,d bytes, and a forked JVM gets at most %,d; start the test with fewer"
              .formatted(bytes.size(), MOST_BYTES));
    }
    environment.put(VARIABLE, bytes.toString(ISO_8859_1));
  }

  /** Sets what this JVM has no value of its own for. Without a parent that passes any, nothing. */
  public static void adopt() {
    String passed = System.getenv(VARIABLE);
    if (passed == null) {
      return;
    }
    Properties properties = new Properties();
    try {
      properties.load(new StringReader(passed));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    for (String name : properties.stringPropertyNames()) {
      if (System.getProperty(name) == null) {
        System.setProperty(name, properties.getProperty(name));
      }
    }
  }
}
