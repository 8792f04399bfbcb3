"""How texts are read aloud, written down from how people say them and before our rules were run on them.

Each reading is words alone; ` | ` stands between readings that are equally right. Used by the tests and by
`tests.bench.text`, which judges other normalisers by them too.
"""

import re
from dataclasses import dataclass

_UNIT = re.compile(r"[\u3400-\u9fff]|[a-z']+")


@dataclass(frozen=True, slots=True)
class Reading:
    """What may be said for `text`."""

    kind: str
    text: str
    accepted: tuple[str, ...]

    def allows(self, said: str) -> bool:
        """Does `said` have the words of one of the readings: case, marks and hyphens don't count."""
        return units(said) in [units(one) for one in self.accepted]


def units(text: str) -> list[str]:
    """Lower-case Latin words and single Han characters; 幺 is a way to say 一."""
    return [unit.strip("'") for unit in _UNIT.findall(text.lower().replace("幺", "一")) if unit.strip("'")]


def _readings(language: str, table: str) -> tuple[Reading, ...]:
    """Lines of `kind; text; reading | reading`."""
    rows = [[field.strip() for field in line.split(";;")] for line in table.strip().splitlines()]
    return tuple(Reading(f"{language} {kind}", text, tuple(said.split(" | "))) for kind, text, said in rows)


_ENGLISH = r"""
cardinal;; The stadium holds 80,250 people.;; The stadium holds eighty thousand two hundred fifty people
cardinal;; There are 7,900,000,000 of us.;; There are seven billion nine hundred million of us
ordinal;; She finished 42nd, and he was 113th.;; She finished forty-second and he was one hundred thirteenth
ordinal;; It is the 1000th visit.;; It is the one thousandth visit
ordinal;; He came in on the 3rd of May.;; He came in on the third of May
decimal;; Pi is about 3.14159.;; Pi is about three point one four one five nine
decimal;; Add .75 liters.;; Add zero point seven five liters | Add point seven five liters
signed;; The low was -12 and the high was +4.;; The low was minus twelve and the high was plus four
signed;; A temperature of −40 °C is rare.;; A temperature of minus forty degrees Celsius is rare
fraction;; Mix 2/3 cup of oats with 1 1/4 cups of milk.;; Mix two thirds cup of oats with one and one quarter cups of milk | Mix two thirds cup of oats with one and one fourth cups of milk | Mix two thirds cup of oats with one and a quarter cups of milk
fraction;; About 5/8 of the class agreed.;; About five eighths of the class agreed
fraction;; A 1/10 chance.;; A one tenth chance | A one in ten chance
percent;; It fell by 0.3 percentage points to 4.1%.;; It fell by zero point three percentage points to four point one percent
percent;; Up 250% since May.;; Up two hundred fifty percent since May
percent;; A 10-15% tip is usual.;; A ten to fifteen percent tip is usual
money;; The deal is worth $1.2 trillion.;; The deal is worth one point two trillion dollars
money;; They raised €750 million in 2019.;; They raised seven hundred fifty million euros in twenty nineteen
money;; It lost $40k.;; It lost forty thousand dollars
money;; A £2.5bn contract was signed.;; A two point five billion pound contract was signed | A two point five billion pounds contract was signed
money;; Tickets are $15-$20.;; Tickets are fifteen to twenty dollars | Tickets are fifteen dollars to twenty dollars
money;; The fine is CHF 200.;; The fine is two hundred Swiss francs
money;; It is 1 dollar and 99¢.;; It is one dollar and ninety-nine cents
money;; It costs A$30 or C$25.;; It costs thirty Australian dollars or twenty-five Canadian dollars
money;; Rent: $2,400/mo.;; Rent two thousand four hundred dollars per month | Rent two thousand four hundred dollars a month
money;; A $5 coffee, please.;; A five dollar coffee please | A five dollars coffee please
money;; He owes me $0.05 and £0.99.;; He owes me five cents and ninety-nine pence
money;; The budget is ₹500 crore.;; The budget is five hundred crore rupees
money;; It went from $1M to $1.5M.;; It went from one million dollars to one point five million dollars
unit;; The car does 35 mpg at 65 mph.;; The car does thirty-five miles per gallon at sixty-five miles per hour
unit;; Blood pressure was 120/80 mmHg.;; Blood pressure was one hundred twenty over eighty millimeters of mercury
unit;; Water boils at 212°F.;; Water boils at two hundred twelve degrees Fahrenheit
unit;; Download speed: 1.5 MB/s.;; Download speed one point five megabytes per second
unit;; Gravity is 9.8 m/s².;; Gravity is nine point eight meters per second squared
unit;; She ran 5 km in 22 min 30 s.;; She ran five kilometers in twenty-two minutes thirty seconds
unit;; Take 500 mg twice a day.;; Take five hundred milligrams twice a day
unit;; The engine makes 150 hp and 200 Nm.;; The engine makes one hundred fifty horsepower and two hundred newton meters
unit;; We built a 6-ft-tall fence.;; We built a six-foot-tall fence
unit;; It was a 10-km race.;; It was a ten-kilometer race
unit;; The baby weighed 7 lbs 4 oz.;; The baby weighed seven pounds four ounces
unit;; The room has 200 sq ft.;; The room has two hundred square feet
unit;; The disc spins at 45 rpm.;; The disc spins at forty-five revolutions per minute | The disc spins at forty-five R P M
unit;; A 27" monitor.;; A twenty-seven inch monitor | A twenty-seven inches monitor
unit;; The shop is ~200 m away.;; The shop is about two hundred meters away
unit;; We used 3.5 kWh and 12 gal of fuel.;; We used three point five kilowatt-hours and twelve gallons of fuel
unit;; Drive 15 mi and park.;; Drive fifteen miles and park
unit;; It draws 2 A at 230 V.;; It draws two amps at two hundred thirty volts | It draws two amperes at two hundred thirty volts
unit;; The point is 40.7128° N, 74.006° W.;; The point is forty point seven one two eight degrees north seventy-four point zero zero six degrees west
date;; The treaty was signed on June 28, 1919.;; The treaty was signed on June twenty-eighth nineteen nineteen
date;; It is due 2025-11-03.;; It is due November third twenty twenty-five
date;; On 14 July 1789 the Bastille fell.;; On the fourteenth of July seventeen eighty-nine the Bastille fell | On July fourteenth seventeen eighty-nine the Bastille fell
date;; She was born Oct. 3, 2001.;; She was born October third two thousand one | She was born October third two thousand and one
date;; Let's meet on Tue 3/4.;; Let's meet on Tuesday March fourth
date;; From Sept. 9 to Dec. 1.;; From September ninth to December first
date;; The sale runs June 3-7.;; The sale runs June third to seventh | The sale runs June third to June seventh
decade;; In the '60s and early 2000s.;; In the sixties and early two thousands
decade;; A man in his 40s.;; A man in his forties
time;; The train leaves at 6:45 PM and arrives at 11:05 PM.;; The train leaves at six forty-five P M and arrives at eleven oh five P M
time;; Call between 9am-5pm.;; Call between nine A M to five P M | Call between nine A M and five P M
time;; It began at 00:30.;; It began at zero thirty | It began at zero zero thirty | It began at twelve thirty A M
time;; His marathon time was 2:03:45.;; His marathon time was two oh three and forty-five seconds | His marathon time was two oh three forty-five | His marathon time was two hours three minutes and forty-five seconds
time;; The meeting is at 14:00 UTC.;; The meeting is at fourteen hundred U T C | The meeting is at fourteen hundred hours U T C
time;; Lunch is 12:15-13:00.;; Lunch is twelve fifteen to thirteen hundred | Lunch is twelve fifteen to thirteen hundred hours | Lunch is twelve fifteen to thirteen o'clock
time;; See you @ 5pm.;; See you at five P M
range;; Read pp. 45–52.;; Read pages forty-five to fifty-two
range;; Ages 8-12 are welcome.;; Ages eight to twelve are welcome
range;; We are open Mon-Fri.;; We are open Monday to Friday
range;; The war of 1939-45.;; The war of nineteen thirty-nine to forty-five | The war of nineteen thirty-nine to nineteen forty-five
range;; Keep it at 20-25°C.;; Keep it at twenty to twenty-five degrees Celsius
range;; The 2020-21 season was short.;; The twenty twenty to twenty-one season was short | The twenty twenty to twenty twenty-one season was short | The twenty twenty twenty-one season was short
range;; Expect 2-3 days.;; Expect two to three days
ratio;; The odds are 5:1.;; The odds are five to one
ratio;; It has a 16:9 screen.;; It has a sixteen to nine screen | It has a sixteen by nine screen
ratio;; A 1:100 scale model.;; A one to one hundred scale model
score;; Brazil won 2–1.;; Brazil won two to one | Brazil won two one
score;; She won 6-4, 7-6.;; She won six four seven six | She won six to four seven to six
score;; They tied 0-0.;; They tied zero to zero | They tied zero zero | They tied nil nil
year;; In 1066 and 1805 there were battles.;; In ten sixty-six and eighteen oh five there were battles
year;; The year 2010 was warm.;; The year twenty ten was warm | The year two thousand ten was warm
year;; The class of 1999 met again.;; The class of nineteen ninety-nine met again
year;; It was built c. 1500.;; It was built circa fifteen hundred
year;; The 1848 revolutions failed.;; The eighteen forty-eight revolutions failed
era;; Rome fell in 476 AD.;; Rome fell in four seventy-six A D | Rome fell in four hundred seventy-six A D
era;; Around 1200 BCE, cities burned.;; Around twelve hundred B C E cities burned
era;; Augustus died in AD 14.;; Augustus died in A D fourteen
phone;; Dial 911 in an emergency.;; Dial nine one one in an emergency
phone;; Call 1-800-555-0147.;; Call one eight hundred five five five zero one four seven | Call one eight zero zero five five five zero one four seven
phone;; My number is +44 20 7946 0958.;; My number is plus four four two zero seven nine four six zero nine five eight
phone;; Text 555-0123 now.;; Text five five five zero one two three now
phone;; Ask for ext. 204.;; Ask for extension two zero four | Ask for extension two hundred four
identifier;; Use seat 14C at gate 22.;; Use seat fourteen C at gate twenty-two
identifier;; The ZIP code is 90210.;; The zip code is nine zero two one zero
identifier;; Take Route 66 to I-95.;; Take Route sixty-six to I ninety-five
identifier;; My PIN is 0042.;; My pin is zero zero four two
identifier;; He flew a Boeing 747.;; He flew a Boeing seven forty-seven | He flew a Boeing seven four seven | He flew a Boeing seven hundred forty-seven
identifier;; They asked about H2O and CO2.;; They asked about H two O and C O two
identifier;; COVID-19 hit in Q1 FY2020.;; Covid nineteen hit in Q one F Y twenty twenty
identifier;; Call getUserName() in app.py.;; Call get User Name in app dot py | Call get User Name in app dot P Y
version;; Update to iOS 17.4.1 today.;; Update to i O S seventeen point four point one today | Update to iOS seventeen point four point one today
version;; We need Node v20.11 here.;; We need Node version twenty point eleven here
version;; Python 3.10 or later.;; Python three point ten or later
version;; Release 2.0-beta is out.;; Release two point zero beta is out
version;; Try Llama 3.1 70B first.;; Try Llama three point one seventy B first | Try Llama three point one seventy billion first
roman;; Louis XIV ruled; Pope John XXIII came later.;; Louis the fourteenth ruled Pope John the twenty-third came later
roman;; Super Bowl LVIII was long.;; Super Bowl fifty-eight was long
roman;; See Chapter IX, Part II.;; See Chapter nine Part two
roman;; Life in the XXI century.;; Life in the twenty-first century
roman;; Queen Elizabeth II's reign ended.;; Queen Elizabeth the second's reign ended
roman;; Malcolm X spoke, and I listened.;; Malcolm X spoke and I listened
roman;; We played Final Fantasy VII.;; We played Final Fantasy seven
roman;; Type II diabetes is common.;; Type two diabetes is common
initialism;; The CEO of IBM met the UN in NYC.;; The C E O of I B M met the U N in N Y C
initialism;; He has a PhD and an MBA.;; He has a P H D and an M B A
initialism;; Send me the URLs and IDs.;; Send me the U R L's and I D's | Send me the U R Ls and I Ds
initialism;; FYI, the RAM and the CPU are fine.;; F Y I the ram and the C P U are fine
initialism;; NASA's JPL built it.;; Nasa's J P L built it
initialism;; The UK's NHS and the EU's GDPR.;; The U K's N H S and the E U's G D P R
initialism;; U.S. troops left D.C. on Sunday.;; U S troops left D C on Sunday
initialism;; Buy a USB-C cable and an SSD.;; Buy a U S B C cable and an S S D
abbreviation;; Prof. Lee and Gen. Grant met on 5th Ave.;; Professor Lee and General Grant met on fifth Avenue
abbreviation;; St. Paul lives on Main St.;; Saint Paul lives on Main Street
abbreviation;; It weighs approx. 5 kg.;; It weighs approximately five kilograms
abbreviation;; Apples, pears, etc. are fruit.;; Apples pears et cetera are fruit
abbreviation;; Smith et al. agree.;; Smith et al agree
abbreviation;; See Fig. 2 and Eq. 5.;; See Figure two and Equation five
abbreviation;; It is in Vol. 3, No. 2.;; It is in Volume three number two
abbreviation;; Mt. Everest is 8,849 m high.;; Mount Everest is eight thousand eight hundred forty-nine meters high
abbreviation;; Lt. Col. Jones spoke.;; Lieutenant Colonel Jones spoke
abbreviation;; Jan. was cold, Feb. was worse.;; January was cold February was worse
abbreviation;; Ph.D. students, e.g. mine, work late.;; P H D students for example mine work late
abbreviation;; He came w/ 2 friends.;; He came with two friends
abbreviation;; Take the No. 7 bus.;; Take the number seven bus
math;; 3 × 4 = 12;; three times four equals twelve
math;; If x ≥ 10, then y < 5.;; If x is at least ten then y is less than five | If x is greater than or equal to ten then y is less than five
math;; √16 = 4;; the square root of sixteen equals four
math;; 2^10 = 1024;; two to the power ten equals one thousand twenty-four | two to the power of ten equals one thousand twenty-four
math;; 10 ÷ 4 = 2.5;; ten divided by four equals two point five
math;; a² + b² = c²;; a squared plus b squared equals c squared
math;; 5! = 120;; five factorial equals one hundred twenty
math;; f(x) = 2x + 1;; f of x equals two x plus one
math;; About 6.02 × 10^23 of them.;; About six point zero two times ten to the power twenty-three of them | About six point zero two times ten to the power of twenty-three of them
math;; It is 7 ± 2 items.;; It is seven plus or minus two items
math;; 100 - 37 = 63;; one hundred minus thirty-seven equals sixty-three
math;; The area is $\pi r^2$.;; The area is pi r squared | The area is pi r to the power two
hashtag;; #MondayMotivation is trending;; hashtag Monday Motivation is trending
hashtag;; We're #1!;; We're number one
hashtag;; Issue #482 is closed.;; Issue number four hundred eighty-two is closed | Issue number four eight two is closed
informal;; Mix A & B.;; Mix A and B
informal;; It's 5x faster.;; It's five times faster | It's five x faster
informal;; 24/7 support in 3D and 4K.;; twenty-four seven support in three D and four K
informal;; He's 6'1" tall.;; He's six foot one tall
informal;; 1,000,000+ downloads;; one million plus downloads
informal;; A 10K run on F1 day.;; A ten K run on F one day
informal;; Win a 2-for-1 deal.;; Win a two for one deal
"""

_CHINESE = """
日期;; 会议定于2024年3月18日上午9点30分。;; 会议定于二零二四年三月十八日上午九点三十分
日期;; 他生于1995年，属猪。;; 他生于一九九五年属猪
日期;; 2023-2024学年开始了。;; 二零二三到二零二四学年开始了 | 二零二三至二零二四学年开始了
日期;; 2024/3/5之前交。;; 二零二四年三月五日之前交
日期;; 7月15-20日放假。;; 七月十五到二十日放假 | 七月十五日到二十日放假
日期;; 2008年8月8日8时8分开幕。;; 二零零八年八月八日八时八分开幕
日期;; 会议在3月-5月之间。;; 会议在三月到五月之间
年代;; 公元前500年左右。;; 公元前五百年左右 | 公元前五零零年左右
年代;; 20世纪60年代的歌。;; 二十世纪六十年代的歌
年代;; 00后和90后都喜欢。;; 零零后和九零后都喜欢
年代;; 2000多年前的事。;; 两千多年前的事 | 二千多年前的事
时间;; 下午3:05开始。;; 下午三点零五分开始 | 下午三点零五开始
时间;; 比赛用时1:23:45。;; 比赛用时一小时二十三分四十五秒 | 比赛用时一点二十三分四十五秒
时间;; 凌晨0:30到家。;; 凌晨零点三十分到家 | 凌晨零点半到家
时间;; 每天7:00-22:00营业。;; 每天七点到二十二点营业
时间;; 我们2点开会。;; 我们两点开会
时间;; 下午2:30见。;; 下午两点三十分见 | 下午两点半见
时间;; 2分钟后出发。;; 两分钟后出发
时间;; 一共用了1小时20分钟。;; 一共用了一小时二十分钟
电话;; 我的手机号是139 1234 5678。;; 我的手机号是一三九一二三四五六七八
电话;; 客服热线400-800-8820。;; 客服热线四零零八零零八八二零
电话;; 座机是021-64370176。;; 座机是零二一六四三七零一七六
电话;; 火警119，急救120。;; 火警一一九急救一二零
电话;; 请拨打10086查询。;; 请拨打一零零八六查询
电话;; 可以上12306购票。;; 可以上一二三零六购票
电话;; 加我微信13800001111。;; 加我微信一三八零零零零一一一一
钱;; 房价涨到每平米5.8万元。;; 房价涨到每平米五点八万元
钱;; 公司市值3.2万亿美元。;; 公司市值三点二万亿美元
钱;; 售价￥2,999。;; 售价两千九百九十九元 | 售价二千九百九十九元
钱;; 我花了€50。;; 我花了五十欧元
钱;; 奖金是$1,000,000。;; 奖金是一百万美元
钱;; 一共12.50元。;; 一共十二点五零元 | 一共十二点五元 | 一共十二元五角
钱;; 门票HK$500。;; 门票五百港元 | 门票五百港币
钱;; 每位￥128/人。;; 每位一百二十八元每人
钱;; 他欠我200块。;; 他欠我两百块 | 他欠我二百块
钱;; 预算10000000元。;; 预算一千万元
百分比;; 年利率3.85%。;; 年利率百分之三点八五
百分比;; 成功率在80%-90%之间。;; 成功率在百分之八十到百分之九十之间 | 成功率在百分之八十到九十之间
百分比;; 70%以上的人同意。;; 百分之七十以上的人同意
百分比;; 千分之3的误差。;; 千分之三的误差
百分比;; 浓度是5‰。;; 浓度是千分之五
分数;; 占全部的1/3。;; 占全部的三分之一
分数;; 进入1/4决赛。;; 进入四分之一决赛
分数;; 他等了2又1/2小时。;; 他等了二又二分之一小时
单位;; 体温37.5℃。;; 体温三十七点五摄氏度
单位;; 气温-15℃~-5℃。;; 气温负十五摄氏度到负五摄氏度 | 气温零下十五摄氏度到零下五摄氏度 | 气温负十五到负五摄氏度
单位;; 车速80km/h。;; 车速每小时八十公里 | 车速八十公里每小时 | 车速每小时八十千米
单位;; 面积9600000平方公里。;; 面积九百六十万平方公里
单位;; 身高180cm，体重75kg。;; 身高一百八十厘米体重七十五千克 | 身高一百八十厘米体重七十五公斤
单位;; 电池容量5000mAh。;; 电池容量五千毫安时
单位;; 密度是1.2g/cm³。;; 密度是每立方厘米一点二克 | 密度是一点二克每立方厘米
单位;; PM2.5浓度35μg/m³。;; P M 二点五浓度每立方米三十五微克 | P M 二点五浓度三十五微克每立方米
单位;; 这个屏幕6.7英寸。;; 这个屏幕六点七英寸
单位;; 男子100m赛跑。;; 男子一百米赛跑
单位;; 电压220V，50Hz。;; 电压二百二十伏五十赫兹 | 电压两百二十伏五十赫兹
单位;; 网速100Mbps。;; 网速一百兆比特每秒 | 网速每秒一百兆比特 | 网速一百兆
单位;; 内存8GB+256GB。;; 内存八 G B 加二百五十六 G B | 内存八 G B 加两百五十六 G B
单位;; 买了2斤苹果和2kg米。;; 买了两斤苹果和两千克米 | 买了两斤苹果和两公斤米
单位;; 一块24k金。;; 一块二十四 K 金
比分;; 最后比分3-2。;; 最后比分三比二
比分;; 中国队以3:1战胜对手。;; 中国队以三比一战胜对手
比例;; 比例为1:1000。;; 比例为一比一千
比例;; 按1:3兑水。;; 按一比三兑水
比例;; 21:9的屏幕。;; 二十一比九的屏幕
序数;; 第3次，第2天，第12名。;; 第三次第二天第十二名
序数;; 第100001个用户。;; 第十万零一个用户
序数;; 他住2号楼2楼。;; 他住二号楼二楼
计数;; 2月2日有2个会。;; 二月二日有两个会
计数;; 来了1008人。;; 来了一千零八人
计数;; 共有10010人参加。;; 共有一万零一十人参加 | 共有一万零十人参加
计数;; 人口14.1亿。;; 人口十四点一亿
计数;; 他20多岁。;; 他二十多岁
计数;; 是原来的1.5倍。;; 是原来的一点五倍
计数;; 买了12个鸡蛋、2条鱼。;; 买了十二个鸡蛋两条鱼
计数;; 已有120000次下载。;; 已有十二万次下载
计数;; 300多年的历史。;; 三百多年的历史
范围;; 需要3~5个工作日。;; 需要三到五个工作日 | 需要三至五个工作日
范围;; 大概2~3天。;; 大概两到三天 | 大概二到三天 | 大概两三天
范围;; 周一-周五上班。;; 周一到周五上班 | 周一至周五上班
范围;; 请看第12-15页。;; 请看第十二到十五页 | 请看第十二至十五页
编号;; 车牌是京A12345。;; 车牌是京 A 一二三四五
编号;; G1234次列车。;; G 一二三四次列车
编号;; 3号线转10号线。;; 三号线转十号线
编号;; 邮编100081。;; 邮编一零零零八一
编号;; 订单号20240315001。;; 订单号二零二四零三一五零零一
编号;; 验证码是0592。;; 验证码是零五九二
编号;; 密码123456。;; 密码一二三四五六
编号;; 身份证号110101199001011234。;; 身份证号一一零一零一一九九零零一零一一二三四
编号;; 985高校和211高校。;; 九八五高校和二一一高校
编号;; 坐101路公交车。;; 坐一零一路公交车 | 坐一百零一路公交车
版本;; Win11系统很快。;; Win 十一系统很快 | Win 一一系统很快
版本;; 升级到安卓14.0.1。;; 升级到安卓十四点零点一
版本;; 下载v3.2.1版本。;; 下载 v 三点二点一版本
版本;; 这是3.0版本。;; 这是三点零版本
版本;; 用Excel 2016打开。;; 用 Excel 二零一六打开
罗马;; 伊丽莎白II世。;; 伊丽莎白二世
罗马;; Ⅲ期临床试验。;; 三期临床试验
罗马;; 路易XIV的宫殿。;; 路易十四的宫殿
缩写;; CEO、CFO都来了。;; C E O C F O 都来了
缩写;; 中国加入WTO。;; 中国加入 W T O
缩写;; AI+医疗是方向。;; A I 加医疗是方向
缩写;; VIP用户打8折。;; V I P 用户打八折
缩写;; DNA和RNA不同。;; D N A 和 R N A 不同
数学;; x²+y²=1;; x 平方加 y 平方等于一 | x 的平方加 y 的平方等于一
数学;; √2≈1.414;; 根号二约等于一点四一四
数学;; 已知3÷4=0.75。;; 已知三除以四等于零点七五
数学;; 当a≤b时;; 当 a 小于等于 b 时 | 当 a 小于或等于 b 时
数学;; 因为2³=8。;; 因为二的三次方等于八 | 因为二的立方等于八 | 因为二立方等于八
数学;; 大约10^6个。;; 大约十的六次方个
数学;; 结果是(-3)×2=-6。;; 结果是负三乘二等于负六 | 结果是负三乘以二等于负六
符号;; #双十一#快到了;; 话题双十一快到了
符号;; @小明 来一下;; at 小明来一下 | 艾特小明来一下
符号;; 1、准备；2、开始;; 一准备二开始
符号;; (1)概述;; 一概述
符号;; 9·11事件;; 九一一事件
符号;; 打9.5折;; 打九五折 | 打九点五折
符号;; 双11大促;; 双十一大促 | 双一一大促
符号;; 温度±2℃;; 温度正负二摄氏度 | 温度正负两摄氏度
混合;; 我在Apple Store花了$999买iPad。;; 我在 Apple Store 花了九百九十九美元买 iPad
混合;; 今天的meeting改到3pm。;; 今天的 meeting 改到三 P M | 今天的 meeting 改到下午三点
混合;; 这个API的QPS是5000。;; 这个 A P I 的 Q P S 是五千
混合;; Q3营收增长20%。;; Q 三营收增长百分之二十
混合;; 他的email是tom@163.com。;; 他的 email 是 tom at 一六三点 com
混合;; 2个GPU跑了36h。;; 两个 G P U 跑了三十六小时
混合;; 我的GitHub有1.2k个star。;; 我的 GitHub 有一点二 k 个 star | 我的 GitHub 有一点二千个 star | 我的 Git Hub 有一点二 k 个 star | 我的 Git Hub 有一点二千个 star
混合;; iPhone 15 Pro有3个摄像头。;; iPhone 十五 Pro 有三个摄像头
混合;; 请打开README.md文件。;; 请打开 readme 点 md 文件 | 请打开 readme 点 m d 文件
混合;; 他说Let's go to the park at 5 pm，好吗？;; 他说 Let's go to the park at five P M 好吗
"""

READINGS = _readings("en", _ENGLISH) + _readings("zh", _CHINESE)
