package org.revenantdb.jmh.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.StringReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.xml.sax.InputSource;

/** A page with every figure and point, and plots of the measurements. */
class ReportTest {
  private final Figures figures = new Figures();

  @Test
  void page_holdsEveryFigureAndPoint_drawnOrNot() {
    figures.put("ratio", 1.25);
    Plot plot = new Plot("How fast?", Plot.Form.LINES, "threads", "1/s", /* logarithmic= */ true);
    List<String> names = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      String name = "throughput,threads=" + i;
      names.add(name);
      figures.point(name, Sample.of(List.of(10.0 + i, 12.0, 14.0), "1/s"));
      if (i % 2 == 0) {
        plot.mark("ours", "" + i, name);
      }
    }
    figures.plot(plot);
    figures.setting("rounds & repeats", "<3>");
    figures.version("JMH", "1.37");
    figures.notMeasured("peer: it hangs");
    String page = page();
    names.forEach(name -> assertTrue(page.contains("<td>" + name + "<td"), name));
    assertEquals(10, count(page, "<circle"));
    for (String text :
        List.of("ratio", "1.250", "How fast?", "rounds &amp; repeats<td class=n>&lt;3>", "1.37")) {
      assertTrue(page.contains(text), text);
    }
    assertTrue(page.contains("peer: it hangs"));
  }

  @Test
  void page_holdsTables_withGapsWhereNothingWasMeasured() {
    figures.point("p", Sample.of(List.of(90.0, 100.0, 110.0), "1/s"));
    figures.table(
        new PointTable("What changes?").cell("rate", "with", "p").cell("rate", "without", "q"));
    figures.judge("bounded", true);
    figures.judge("bounded", false);
    String page = page();
    assertTrue(page.contains("What changes?"), page);
    assertTrue(page.contains("<th class=n>with<th class=n>without"), page);
    assertTrue(page.contains("<tr><td>rate<td class=n>100 &#177; 10 %<td class=n>\n"), page);
    assertTrue(page.contains("<td>bounded<td class=n>no"), page);
  }

  @Test
  void page_isSelfContained() {
    figures.point("p", Sample.of(List.of(1.0), "ns"));
    figures.plot(
        new Plot("q", Plot.Form.BARS, "x", "y", /* logarithmic= */ false).mark("s", "1", "p"));
    String page = page();
    assertFalse(Pattern.compile("https?:|<script|<link|<img|@import|url\\(").matcher(page).find());
  }

  @ParameterizedTest
  @EnumSource(Plot.Form.class)
  void drawing_putsLargerValuesHigher_insideTheFrame(Plot.Form form) {
    for (boolean logarithmic : new boolean[] {false, true}) {
      Plot plot =
          new Plot("q", form, "x", "y", logarithmic)
              .mark("s", "1", "small")
              .mark("s", "2", "large")
              .mark("s", "3", "missing");
      Map<String, Sample> points =
          Map.of(
              "small",
              Sample.of(List.of(1.0, 3.0, 4.0), "ns"),
              "large",
              Sample.of(List.of(4_000.0, 9_000.0), "ns"));
      String svg = PlotDrawing.draw(plot, points);
      String place = form == Plot.Form.LINES ? "<circle.* cy=([0-9.]+)" : "class=b .* y=([0-9.]+)";
      List<Double> tops =
          Pattern.compile(place).matcher(svg).results().map(ReportTest::number).toList();
      assertEquals(2, tops.size(), svg);
      assertTrue(tops.get(0) > tops.get(1), svg);
      tops.forEach(top -> assertTrue(top >= 14 && top <= 272, svg));
      assertFalse(svg.contains("NaN") || svg.contains("Infinity"), svg);
    }
  }

  @Test
  void drawing_ofNoPointsIsASentence() {
    Plot plot = new Plot("q", Plot.Form.BARS, "x", "y", /* logarithmic= */ false);
    assertTrue(PlotDrawing.draw(plot.mark("s", "1", "p"), Map.of()).startsWith("<p>"));
  }

  @Test
  void drawing_ofZerosHasAnAxis() {
    Plot plot = new Plot("q", Plot.Form.BARS, "x", "y", /* logarithmic= */ false);
    String svg =
        PlotDrawing.draw(plot.mark("s", "1", "p"), Map.of("p", Sample.of(List.of(0.0), "B")));
    assertTrue(svg.contains("<rect") && !svg.contains("NaN"), svg);
  }

  @Test
  void drawing_isWellFormed_butForQuotes() throws Exception {
    Plot plot =
        new Plot("q", Plot.Form.LINES, "a < b & c", "'y'", /* logarithmic= */ true)
            .mark("<s>", "1 & 2", "p");
    String svg =
        PlotDrawing.draw(plot, Map.of("p", Sample.of(List.of(7.0), "1/s")))
            .replaceAll("=([a-zA-Z0-9.]+)", "='$1'");
    DocumentBuilderFactory.newInstance()
        .newDocumentBuilder()
        .parse(new InputSource(new StringReader(svg)));
  }

  @Test
  void ticks_areRoundAndEncloseTheValues() {
    assertEquals(List.of(0.0, 2.0, 4.0, 6.0, 8.0), PlotDrawing.ticks(1, 7.3, false));
    assertEquals(List.of(0.0, 0.1, 0.2), rounded(PlotDrawing.ticks(0.1, 0.4, false)).subList(0, 3));
    assertEquals(List.of(1.0, 10.0, 100.0), PlotDrawing.ticks(3, 99, true));
    assertEquals(List.of(1.0, 10.0), PlotDrawing.ticks(10, 10, true));
  }

  @Test
  void numbers_areShort() {
    assertEquals("58.3M", PlotDrawing.number(58_300_000));
    assertEquals("442k", PlotDrawing.number(442_170));
    assertEquals("1000", PlotDrawing.number(1000));
    assertEquals("0.98", PlotDrawing.number(0.98));
    assertEquals("2.0e-05", PlotDrawing.number(0.00002));
    assertEquals("0", PlotDrawing.number(0));
  }

  private static List<Double> rounded(List<Double> values) {
    return values.stream().map(value -> Math.round(value * 1e6) / 1e6).toList();
  }

  private static double number(MatchResult match) {
    return Double.parseDouble(match.group(1));
  }

  private static int count(String text, String part) {
    return text.split(Pattern.quote(part), -1).length - 1;
  }

  private String page() {
    return Report.page(
        new OffHeapBench(),
        new Bench.Settings(/* quick= */ true, 1, Set.of()),
        figures,
        new MeasuredOn(Map.of("processors", "2"), "jdk", "commit"));
  }
}
