package org.revenantdb.chaos.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.subject.Verdict;

/** The index of a folder has a line for each report. */
class ReportFolderTest {
  @TempDir private Path temp;

  private static RunReport report(String title, Verdict verdict) {
    return RunReport.builder(title, 7)
        .surroundings(new Surroundings("machine", "JDK", "commit"))
        .part(Outcome.of("power cut", verdict, verdict == Verdict.SURVIVED ? "" : "a reason"))
        .build();
  }

  private String read(String name) throws IOException {
    return Files.readString(temp.resolve("chaos").resolve(name));
  }

  private static int places(String text, String what) {
    return text.split(Pattern.quote(what), -1).length - 1;
  }

  @Test
  void the_worst_verdict_comes_first_and_all_reports_are_in_the_data() throws IOException {
    ReportFolder folder = ReportFolder.of(temp.resolve("chaos"));
    folder.put(report("a.Good", Verdict.SURVIVED));
    folder.put(report("b.Bad<T>", Verdict.LOST));
    folder.put(report("c.None", Verdict.NOT_MEASURED));
    String index = read("index.html");
    assertTrue(index.contains("<title>LOST: Crash tests</title>"), index);
    assertTrue(index.indexOf("b.Bad&lt;T&gt;") < index.indexOf("c.None"), index);
    assertTrue(index.indexOf("c.None") < index.indexOf("a.Good"), index);
    assertTrue(index.contains("href=\"b.Bad_T_.html\""), index);
    assertTrue(read("b.Bad_T_.html").contains("b.Bad&lt;T&gt;"));
    String data = read("index.json");
    assertTrue(data.contains("\"verdict\": \"LOST\",\n\"reports\": ["), data);
    assertEquals(3, places(data, "\"title\": "), data);
  }

  @Test
  void a_report_replaces_the_one_that_its_subject_had() throws IOException {
    ReportFolder folder = ReportFolder.of(temp.resolve("chaos"));
    folder.put(report("Same", Verdict.CORRUPT));
    folder.put(report("Same", Verdict.SURVIVED));
    String index = read("index.html");
    assertEquals(1, places(index, "<a href="), index);
    assertFalse(index.contains("CORRUPT"), index);
  }

  @Test
  void what_is_no_report_is_not_in_the_index() throws IOException {
    Path chaos = Files.createDirectory(temp.resolve("chaos"));
    Files.writeString(chaos.resolve("notes.html"), "<p>notes</p>");
    Files.writeString(chaos.resolve("EXIT.txt"), "somebody called exit");
    ReportFolder.of(chaos).put(report("One", Verdict.SURVIVED));
    assertFalse(read("index.html").contains("notes"));
  }

  @Test
  void reports_that_are_written_at_the_same_time_are_all_in_the_index() throws Exception {
    List<FutureTask<Void>> writers = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      String title = "Subject" + i;
      FutureTask<Void> writer =
          new FutureTask<>(() -> {
            ReportFolder.of(temp.resolve("chaos")).put(report(title, Verdict.SURVIVED));
            return null;
          });
      writers.add(writer);
      Thread.ofPlatform().start(writer);
    }
    for (FutureTask<Void> writer : writers) {
      writer.get();
    }
    assertEquals(8, places(read("index.html"), "<a href="));
  }
}
