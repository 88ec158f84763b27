package org.revenantdb.suite.fuzz;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The places of a child's threads when it hung or died, from its thread dump. */
final class HangReport {

  private static final Pattern FRAME =
      Pattern.compile("\\s+at (?:[a-z.]+@?[^/]*/)?(org\\.revenantdb\\.[\\w.$]+)\\(([^)]*)\\)");
  private static final int FRAMES = 2;

  private HangReport() {}

  static Finding of(Outcome outcome, int code, String stderr) {
    List<String> places = new ArrayList<>();
    List<String> frames = new ArrayList<>();
    for (String line : stderr.lines().toList()) {
      Matcher frame = FRAME.matcher(line);
      if (line.startsWith("\"") || line.isBlank()) {
        close(frames, places);
      } else if (frame.lookingAt() && Finding.isOfTheEngine(frame.group(1))) {
        String place = frame.group(1);
        String method = place.substring(place.lastIndexOf('.', place.lastIndexOf('.') - 1) + 1);
        frames.add(method + ":" + frame.group(2).replaceAll(".*:", ""));
      }
    }
    close(frames, places);
    String what = outcome == Outcome.HANGS ? String.join(" | ", places) : "exit code " + code;
    return new Finding(outcome, "unknown", outcome.text() + ": " + what, stderr);
  }

  private static void close(List<String> frames, List<String> places) {
    String place = String.join(" < ", frames.subList(0, Math.min(FRAMES, frames.size())));
    if (!place.isEmpty() && !isIdle(place) && !places.contains(place)) {
      places.add(place);
    }
    frames.clear();
  }

  /** Threads that wait for work are left out. */
  private static boolean isIdle(String place) {
    return place.contains("ForgottenTransactions")
        || place.startsWith("LazyDeadline")
        || place.startsWith("ChildPipe")
        || place.startsWith("FileThread.call")
        || place.startsWith("FileThread.join");
  }
}
