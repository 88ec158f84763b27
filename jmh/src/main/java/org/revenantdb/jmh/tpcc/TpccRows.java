package org.revenantdb.jmh.tpcc;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * The rows: at which byte of a value each column is.
 *
 * <p>Columns have fixed places, so that a number is changed in place. Money is cents in a {@code
 * long}, a rate is ten-thousandths in an {@code int}, a moment is milliseconds since 1970 in a
 * {@code long} with 0 for none. A text has the bytes of its longest value, with zeros behind it;
 * the last one of a row takes the rest. Content of the key is not repeated: a new order and an
 * entry of an index have no bytes at all.
 */
final class TpccRows {
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  /** The value of a row whose key contains everything. */
  static final byte[] EMPTY = {};

  private TpccRows() {}

  /** A warehouse. */
  static final class Warehouse {
    static final int TAX = 0;
    static final int YTD = TAX + Integer.BYTES;
    static final int NAME = YTD + Long.BYTES;
    static final int NAME_BYTES = 10;
    static final int ADDRESS = NAME + NAME_BYTES;
    static final int BYTES = ADDRESS + Address.BYTES;

    private Warehouse() {}
  }

  /** A district. */
  static final class District {
    static final int TAX = 0;
    static final int YTD = TAX + Integer.BYTES;
    static final int NEXT_ORDER = YTD + Long.BYTES;
    static final int NAME = NEXT_ORDER + Integer.BYTES;
    static final int NAME_BYTES = 10;
    static final int ADDRESS = NAME + NAME_BYTES;
    static final int BYTES = ADDRESS + Address.BYTES;

    private District() {}
  }

  /** Two lines of street, city, state, zip. */
  static final class Address {
    static final int STREET_1 = 0;
    static final int STREET_2 = 20;
    static final int CITY = 40;
    static final int STATE = 60;
    static final int ZIP = 62;
    static final int BYTES = 71;

    private Address() {}
  }

  /** A customer. */
  static final class Customer {
    static final int CREDIT_LIMIT = 0;
    static final int DISCOUNT = CREDIT_LIMIT + Long.BYTES;
    static final int BALANCE = DISCOUNT + Integer.BYTES;
    static final int YTD_PAYMENT = BALANCE + Long.BYTES;
    static final int PAYMENTS = YTD_PAYMENT + Long.BYTES;
    static final int DELIVERIES = PAYMENTS + Integer.BYTES;
    static final int SINCE = DELIVERIES + Integer.BYTES;
    static final int FIRST = SINCE + Long.BYTES;
    static final int NAME_BYTES = 16;
    static final int MIDDLE = FIRST + NAME_BYTES;
    static final int MIDDLE_BYTES = 2;
    static final int LAST = MIDDLE + MIDDLE_BYTES;
    static final int ADDRESS = LAST + NAME_BYTES;
    static final int PHONE = ADDRESS + Address.BYTES;
    static final int PHONE_BYTES = 16;
    static final int CREDIT = PHONE + PHONE_BYTES;
    static final int CREDIT_BYTES = 2;

    /** To the end. */
    static final int DATA = CREDIT + CREDIT_BYTES;

    static final int LONGEST_DATA = 500;

    private Customer() {}
  }

  /** A payment. */
  static final class History {
    static final int CUSTOMER_WAREHOUSE = 0;
    static final int CUSTOMER_DISTRICT = CUSTOMER_WAREHOUSE + Integer.BYTES;
    static final int CUSTOMER = CUSTOMER_DISTRICT + Integer.BYTES;
    static final int DATE = CUSTOMER + Integer.BYTES;
    static final int AMOUNT = DATE + Long.BYTES;

    /** To the end. */
    static final int DATA = AMOUNT + Long.BYTES;

    private History() {}
  }

  /** An order. */
  static final class Order {
    static final int CUSTOMER = 0;
    static final int ENTRY_DATE = CUSTOMER + Integer.BYTES;

    /** 0 as long as it is not delivered. */
    static final int CARRIER = ENTRY_DATE + Long.BYTES;

    static final int LINES = CARRIER + Integer.BYTES;
    static final int ALL_LOCAL = LINES + Integer.BYTES;
    static final int BYTES = ALL_LOCAL + Integer.BYTES;

    private Order() {}
  }

  /** A line of an order. */
  static final class OrderLine {
    static final int ITEM = 0;
    static final int SUPPLY_WAREHOUSE = ITEM + Integer.BYTES;

    /** 0 as long as it is not delivered. */
    static final int DELIVERY_DATE = SUPPLY_WAREHOUSE + Integer.BYTES;

    static final int QUANTITY = DELIVERY_DATE + Long.BYTES;
    static final int AMOUNT = QUANTITY + Integer.BYTES;
    static final int DISTRICT_INFO = AMOUNT + Long.BYTES;
    static final int BYTES = DISTRICT_INFO + Stock.DISTRICT_BYTES;

    private OrderLine() {}
  }

  /** An item of the catalogue. */
  static final class Item {
    static final int IMAGE = 0;
    static final int PRICE = IMAGE + Integer.BYTES;
    static final int NAME = PRICE + Long.BYTES;
    static final int NAME_BYTES = 24;

    /** To the end. */
    static final int DATA = NAME + NAME_BYTES;

    private Item() {}
  }

  /** The stock of an item in a warehouse. */
  static final class Stock {
    static final int QUANTITY = 0;
    static final int YTD = QUANTITY + Integer.BYTES;
    static final int ORDERS = YTD + Long.BYTES;
    static final int REMOTE_ORDERS = ORDERS + Integer.BYTES;

    /** One text for each district. */
    static final int DISTRICT = REMOTE_ORDERS + Integer.BYTES;

    static final int DISTRICT_BYTES = 24;

    /** To the end. */
    static final int DATA = DISTRICT + TpccScale.DISTRICTS * DISTRICT_BYTES;

    private Stock() {}
  }

  static int getInt(byte[] row, int column) {
    return (int) INT.get(row, column);
  }

  static void putInt(byte[] row, int column, int value) {
    INT.set(row, column, value);
  }

  static void addInt(byte[] row, int column, int value) {
    putInt(row, column, getInt(row, column) + value);
  }

  static long getLong(byte[] row, int column) {
    return (long) LONG.get(row, column);
  }

  static void putLong(byte[] row, int column, long value) {
    LONG.set(row, column, value);
  }

  static void addLong(byte[] row, int column, long value) {
    putLong(row, column, getLong(row, column) + value);
  }

  /** Stores a text that is not longer than its column. */
  static void putText(byte[] row, int column, String text) {
    byte[] bytes = text.getBytes(US_ASCII);
    System.arraycopy(bytes, 0, row, column, bytes.length);
  }

  /** A text without its trailing zeros. */
  static String getText(byte[] row, int column, int bytes) {
    int end = column;
    while (end < column + bytes && row[end] != 0) {
      end++;
    }
    return new String(row, column, end - column, US_ASCII);
  }

  /** A row that ends with a text of variable length. */
  static byte[] endingWith(byte[] row, int column, String text) {
    byte[] whole = Arrays.copyOf(row, column + text.length());
    putText(whole, column, text);
    return whole;
  }
}
