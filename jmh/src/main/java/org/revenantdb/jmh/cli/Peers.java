package org.revenantdb.jmh.cli;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The shared parts of comparisons with other engines. */
final class Peers {
  /** For a JVM in which a peer loads native code. */
  static final List<String> NATIVE = List.of("--enable-native-access=ALL-UNNAMED");

  private Peers() {}

  /** By the name of its file on the class path, for that needs nothing of it to be loaded. */
  static String versionOf(String artifact) {
    Matcher matcher =
        Pattern.compile("[/\\\\]" + artifact + "-([0-9][^/\\\\]*)\\.jar")
            .matcher(System.getProperty("java.class.path"));
    return matcher.find() ? matcher.group(1) : "not there";
  }
}
