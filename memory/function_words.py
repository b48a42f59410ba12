"""Function words: what any two texts share, whatever they are about, by language.

Question words and forms of address are among them, since prompts are full of them. Words that turn or bound a
statement (not, never, only, before, after, over, under, all, most) are not: they tell one rule from another.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ENGLISH = _words(
    """
    a an the this that these those here there i me my mine myself we us our ours ourselves you your yours yourself he
    him his himself she her hers herself it its itself they them their theirs themselves who whom whose which what
    when where why how am is are was were be been being have has had having do does did doing done will would shall
    should can could may might must and or but if because as than so too very just such own same other some each then
    once further of at by for with about between into through to from up down in out on im ive youre youve
    theyre hes shes thats theres whats lets dont didnt doesnt isnt wasnt arent werent wont cant couldnt shouldnt
    wouldnt havent hasnt hadnt please
    """
)
# The names are those of Snowball's algorithms.
BY_LANGUAGE: dict[str, frozenset[str]] = {
    "english": ENGLISH,
    "german": _words(
        """
        der die das den dem des ein eine einen einem einer eines und oder aber wenn weil dass als wie wo wer was wann
        warum ich du er sie es wir ihr mich dich uns euch mein dein sein unser ist sind war waren bin bist wird werden
        hat haben habe hatte kann können muss müssen soll sollen zu zum zur im in am an auf aus bei mit von vom für
        über um durch auch noch schon so da hier dort man sich bitte mal
        """
    ),
    "french": _words(
        """
        le la les un une des du de d l et ou mais si que qui quoi dont où quand comment pourquoi je tu il elle on nous
        vous ils elles me te se lui leur mon ma mes ton ta tes son sa ses notre votre ce cet cette ces est sont était
        être avoir a ai ont peut peux faut à au aux en dans par pour avec sur y plaît stp merci
        """
    ),
    "spanish": _words(
        """
        el la los las lo un una unos unas y o u pero si que quien quién qué cuál cuando cuándo donde dónde como cómo
        por porque yo tú él ella nosotros ustedes me te se le les mi tu su mis tus sus este esta esto ese esa eso es
        son era ser estar está están hay ha he puede puedes a al de del en con para gracias
        """
    ),
    "portuguese": _words(
        """
        o a os as um uma uns umas e ou mas se que quem qual quando onde como por porque eu tu você ele ela nós eles
        elas me te lhe meu minha seu sua este esta isto esse essa isso é são era ser estar está há pode a ao à de do
        da dos das em no na nos nas com para obrigado
        """
    ),
    "italian": _words(
        """
        il lo la i gli le un uno una e o ma se che chi cosa quale quando dove come perché io tu lui lei noi voi loro
        mi ti si ci vi mio tuo suo questo questa quello quella è sono era essere ha ho hanno può puoi a al alla di del
        della da dal in nel nella con su per grazie
        """
    ),
    "dutch": _words(
        """
        de het een en of maar als dat die wie wat waar wanneer waarom hoe ik jij je u hij zij ze wij we mij me jou hem
        haar ons mijn jouw zijn dit deze is zijn was waren ben wordt worden heeft hebben kan kunnen moet moeten te tot
        in op aan bij met van voor door om uit ook nog er graag
        """
    ),
    "russian": _words(
        """
        и или но а если что чтобы как где когда почему кто какой который я ты он она оно мы вы они меня тебя его её их
        мой твой свой наш ваш это этот эта эти тот та те быть был была было были есть в во на с со к ко у о об от до
        из за по для же ли бы вот там тут
        """
    ),
    "polish": _words(
        """
        i oraz lub albo ale jeśli że żeby jak gdzie kiedy dlaczego kto co jaki który ja ty on ona ono my wy oni mnie
        ciebie jego jej ich mój twój swój nasz to ten ta te tamten być jest są był była było w we na z ze do od po za
        o u przy dla się tu tam proszę
        """
    ),
    "turkish": _words(
        "ve veya ama eğer ki ne kim nasıl nerede niçin neden bu şu o ben sen biz siz onlar bir ile için de da mi"
    ),
}
